import { defaultDurations as durations } from "../durations.ts";
import { lease } from "../sweep/lease.ts";
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

export async function leaseSlice(history: History, step: StepOf<"lease">): Promise<void> {
  const { now, rows, notes } = history;
  const { leased, watermark, ...counts } = await lease(history.database.ledger, durations, {
    ...step,
    watermark: null,
  });
  const due = rows
    .filter(({ owedAt }) => owedAt !== null && owedAt <= now)
    .filter(
      ({ state }) =>
        !(state === "queued" && step.queued === "skip") && !(state === "unknown" && step.unknown === "skip"),
    )
    .toSorted((a, b) => (a.owedAt ?? 0) - (b.owedAt ?? 0) || (a.id < b.id ? -1 : 1))
    .slice(0, step.limit);
  const done: string[] = [];
  const expected: ModelRow[] = [];
  for (const row of due) {
    const lost = step.queued === "lost" ? "yes" : model.isLost(row, notes, now);
    const did = model.sweepRow(row, now, lost === "perhaps" ? await isRescued(history, row) : lost === "yes");
    done.push(did);
    if (did === "lease") expected.push(row);
  }
  const count = (did: string) => done.filter((other) => other === did).length;
  history.check(
    { ...counts, leased: leased.map(bare) },
    {
      taken: due.length,
      cancelled: count("cancel"),
      rescued: count("rescue"),
      unknown: count("unknown"),
      resent: count("resend"),
      held: count("hold"),
      lost: count("lose"),
      leased: expected.map(bare),
    },
    "slice",
  );
  for (const [place, row] of expected.entries()) {
    const item = leased[place];
    if (item) history.leases.push({ row, token: item.token, leased: item });
  }
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
