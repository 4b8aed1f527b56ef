import { recordTrouble } from "../channel/record-trouble.ts";
import { NotAllowed } from "../connect/errors.ts";
import { closeChannel } from "../operate/close-channel.ts";
import { liftSuppression } from "../operate/lift-suppression.ts";
import { openChannel } from "../operate/open-channel.ts";
import { type History, pick } from "./history.ts";
import type { StepOf } from "./steps.ts";

const act = { actor: "somebody", why: "to see" };
const breaker = { failures: 5, first: 10, longest: 100 };

/** By an operator, or for so many seconds by the provider, which never opens it earlier. */
export async function close(history: History, { seconds }: StepOf<"close">): Promise<void> {
  const { database, now } = history;
  if (seconds === null) {
    await closeChannel(database.ledger, "email", act);
    history.closed = Number.POSITIVE_INFINITY;
    return;
  }
  const trouble = {
    channel: "email",
    answered: false,
    failures: 1,
    close: { for: "quota", seconds },
    why: "quota",
  } as const;
  const closedFor = await recordTrouble(database.ledger, breaker, trouble);
  history.closed = Math.max(history.closed ?? 0, now + seconds);
  history.check(closedFor, Number.isFinite(history.closed) ? "quota" : "operator", "closed for");
}

export async function open(history: History): Promise<void> {
  const wasClosed = await openChannel(history.database.ledger, "email", { actor: "ana", why: "mended" });
  history.check(wasClosed, history.isClosed, "was closed");
  history.closed = null;
}

export async function lift(history: History, { row: back }: StepOf<"lift">): Promise<void> {
  const { database, rows } = history;
  for (const row of pick(rows, back)) {
    const [to] = await database.sql<{ address: string }[]>`
      SELECT s.address FROM owed.subscriber s JOIN owed.notification n ON n.subscriber_id = s.id WHERE n.id = ${row.id}`;
    const suppression = { channel: "email", address: to?.address.toUpperCase() ?? "" };
    const lifted = await liftSuppression(database.ledger, suppression, act).then(
      () => true,
      (error) => {
        if (error instanceof NotAllowed) return false;
        throw error;
      },
    );
    history.check(lifted, row.suppressed, "lifted");
    const liftedAt = lifted ? history.now : row.liftedAt;
    for (const also of history.sameRecipient(row)) Object.assign(also, { suppressed: false, liftedAt });
    // Evidence carries whole milliseconds: no other step may fall into this one.
    for (const start = Date.now(); Date.now() < start + 2; );
  }
}
