import { NotAllowed } from "../connect/errors.ts";
import { cancel } from "../operate/cancel.ts";
import { replay } from "../operate/replay.ts";
import { resolveAsSent } from "../operate/resolve-as-sent.ts";
import { type History, pick } from "./history.ts";
import * as model from "./model.ts";
import type { StepOf } from "./steps.ts";

const act = { actor: "somebody", why: "to see" };

export async function replaySome(history: History, step: StepOf<"replay">): Promise<void> {
  const { now, database } = history;
  const rows = [...new Set(step.rows.flatMap((back) => pick(history.rows, back)))];
  const replayed = await replay(
    database.ledger,
    rows.map(({ id }) => id),
    act,
    step.kind,
  );
  const expected = Map.groupBy(rows, (row) => model.replayRow(row, now, step.kind));
  const ids = (did: "replayed" | "moot") => (expected.get(did) ?? []).map(({ id }) => id).toSorted();
  history.check(replayed.ids.toSorted(), ids("replayed"), "replayed");
  history.check([...replayed.moot.keys()].toSorted(), ids("moot"), "moot");
}

export async function resolveOne(history: History, step: StepOf<"resolve">): Promise<void> {
  const { now, rows, database } = history;
  for (const row of pick(rows, step.row)) {
    const allowed = await isAllowed(resolveAsSent(database.ledger, row.id, act));
    history.check(allowed, model.resolveRow(row, now), "resolved");
  }
}

export async function cancelOne(history: History, step: StepOf<"cancel">): Promise<void> {
  for (const row of pick(history.rows, step.row)) {
    const allowed = await isAllowed(cancel(history.database.ledger, row.id, act));
    history.check(allowed, model.cancelRow(row), "cancelled");
  }
}

const isAllowed = (operation: Promise<void>) =>
  operation.then(
    () => true,
    (error) => {
      if (error instanceof NotAllowed) return false;
      throw error;
    },
  );

/** The recipient of a row, and so of all rows of the same recipient. */
export async function optOut(history: History, step: StepOf<"optOut">): Promise<void> {
  const { rows, database } = history;
  for (const row of pick(rows, step.row)) {
    await database.sql`
      UPDATE owed.subscriber SET opted_out_at = now()
      WHERE id = (SELECT subscriber_id FROM owed.notification WHERE id = ${row.id})`;
    for (const also of history.sameRecipient(row)) also.optedOut = true;
  }
}
