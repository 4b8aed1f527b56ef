import {
  type Backfill,
  backfillTimers,
  judgeTimers,
  type Ledger,
  type Refusal,
  type Timer,
} from "@owed/ledger";
import { Failure } from "../errors.ts";
import { type Fields, isTimer, parseTimer } from "./parse-timer.ts";

type Records = AsyncIterable<readonly (Fields | Refusal)[]>;
type Batch = { from: number; to: number; timers: Timer[]; refusals: Refusal[] };

/** Cuts a file's records into batches of so many, without the first `done`; each record as a timer, or refused. */
async function* batches(records: Records, size: number, done: number): AsyncGenerator<Batch> {
  let seen = 0;
  let batch: Batch = { from: done, to: done, timers: [], refusals: [] };
  for await (const some of records)
    for (const record of some) {
      seen += 1;
      if (seen <= done) continue;
      const parsed = "fields" in record ? parseTimer(record) : record;
      if (isTimer(parsed)) batch.timers.push(parsed);
      else batch.refusals.push(parsed);
      batch.to = seen;
      if (batch.to - batch.from < size) continue;
      yield batch;
      batch = { from: seen, to: seen, timers: [], refusals: [] };
    }
  if (batch.to > batch.from) yield batch;
}

/**
 * Takes a file's records into the ledger from where it is, each batch in a transaction of its own; the next is read
 * meanwhile. Returns what the whole file led to. Throws `not_allowed` when another run takes in the same file.
 */
export async function takeIn(
  ledger: Ledger,
  digest: string,
  begun: Backfill,
  records: Records,
  size: number,
): Promise<Backfill> {
  let far = begun;
  let under: Promise<void> = Promise.resolve();
  const take = async (batch: Batch) => {
    far = await backfillTimers(ledger, digest, batch);
    if (far.records !== batch.to)
      throw new Failure(
        "not_allowed",
        "another run is taking in the same file: let it end, then run this again",
      );
  };
  for await (const batch of batches(records, size, begun.records)) {
    await under;
    under = take(batch);
    // Awaited in the next round; until then a failure must not count as unhandled.
    under.catch(() => {});
  }
  await under;
  return far;
}

/** What a file's records would lead to, those that the ledger has already among them. Nothing changes. */
export async function tryOut(
  ledger: Ledger,
  records: Records,
  size: number,
): Promise<{ records: number; refused: number; refusals: Refusal[] }> {
  const tried = { records: 0, refused: 0, refusals: [] as Refusal[] };
  for await (const { to, timers, refusals } of batches(records, size, 0)) {
    const wrong = [...refusals, ...(await judgeTimers(ledger, timers))].toSorted((a, b) => a.line - b.line);
    tried.records = to;
    tried.refused += wrong.length;
    if (tried.refusals.length < 10_000) tried.refusals.push(...wrong);
  }
  return tried;
}
