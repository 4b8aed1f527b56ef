import { defaultDurations as durations } from "../durations.ts";
import { lease } from "../sweep/lease.ts";
import { lookAgain } from "../sweep/look-again.ts";
import { markQueued } from "../sweep/mark-queued.ts";
import { release } from "../sweep/release.ts";
import { type History, pick } from "./history.ts";
import * as model from "./model.ts";
import type { ModelRow } from "./model-row.ts";
import type { StepOf } from "./steps.ts";

const bare = ({ id, token, generation }: { id: string; token: number; generation: number }) => ({
  id,
  token,
  generation,
});

/** Rows of these states whose time has come, the oldest first. */
const dueRows = ({ rows, now }: History, ...states: readonly string[]) =>
  rows
    .filter(({ owedAt, state }) => owedAt !== null && owedAt <= now && states.includes(state))
    .toSorted((a, b) => (a.owedAt ?? 0) - (b.owedAt ?? 0) || (a.id < b.id ? -1 : 1));

export async function leaseSlice(history: History, step: StepOf<"lease">): Promise<void> {
  const { now } = history;
  const { leased, taken, cancelled } = await lease(history.database.ledger, durations, {
    shares: [{ channel: "email", most: step.most }],
    watermark: null,
    fresh: step.fresh,
  });
  const due = dueRows(history, "pending", "leased")
    .filter(({ owedAt }) => step.fresh === null || (owedAt ?? 0) > now - step.fresh)
    .slice(0, history.isClosed ? 0 : step.most);
  const expected = due.filter((row) => model.sweepRow(row, now, false) === "lease");
  history.check(
    { leased: leased.map(bare), cancelled, taken: taken.get("email") ?? { rows: 0, leased: 0 } },
    {
      leased: expected.map(bare),
      cancelled: due.length - expected.length,
      taken: { rows: due.length, leased: expected.length },
    },
    "slice",
  );
  for (const [place, row] of expected.entries()) {
    const item = leased[place];
    if (item) history.leases.push({ row, token: item.token, leased: item });
  }
}

export async function lookAtSome(
  history: History,
  { limit, queued, unknown }: StepOf<"look">,
): Promise<void> {
  const { now, notes } = history;
  const looked = await lookAgain(history.database.ledger, durations, { limit, queued, unknown });
  const states = [
    "sending",
    ...(queued === "skip" ? [] : ["queued"]),
    ...(unknown === "skip" ? [] : ["unknown"]),
  ];
  const done: string[] = [];
  for (const row of dueRows(history, ...states).slice(0, limit)) {
    const lost = queued === "lost" ? "yes" : model.isLost(row, notes, now);
    done.push(model.sweepRow(row, now, lost === "perhaps" ? await isRescued(history, row) : lost === "yes"));
  }
  const count = (did: string) => done.filter((other) => other === did).length;
  history.check(
    looked,
    {
      taken: done.length,
      rescued: count("rescue"),
      unknown: count("unknown"),
      resent: count("resend"),
      held: count("hold"),
      lost: count("lose"),
    },
    "looked",
  );
}

/** What the ledger decided where the model leaves it a choice. */
async function isRescued({ database }: History, row: ModelRow): Promise<boolean> {
  const [left] = await database.sql`SELECT FROM owed.notification WHERE id = ${row.id} AND state = 'queued'`;
  return left === undefined;
}

export async function markSome(history: History, step: StepOf<"mark">): Promise<void> {
  const { now, leases, database } = history;
  const held = [
    ...new Map(step.leases.flatMap((back) => pick(leases, back)).map((one) => [one.row, one])).values(),
  ];
  const marked = await markQueued(
    database.ledger,
    durations,
    held.map(({ leased }) => leased),
  );
  history.check(marked, held.filter(({ row, token }) => model.mark(row, token, now)).length, "marked");
}

export async function releaseOne(history: History, step: StepOf<"release">): Promise<void> {
  const { now, leases, database } = history;
  const held = pick(leases, step.lease);
  const released = await release(
    database.ledger,
    held.map(({ leased }) => ({ ...leased, wait: step.wait })),
  );
  history.check(
    released,
    held.filter(({ row, token }) => model.release(row, token, now, step.wait)).length,
    "released",
  );
}
