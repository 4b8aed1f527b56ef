import { addHistory, type Due, oweRows, settle } from "../database/fill.ts";
import type { LedgerDatabase } from "../database/ledger-database.ts";
import { type Series, series } from "../figures.ts";
import { type Beat, beat } from "../flat/leasing.ts";
import { type Size, sizeOf } from "../flat/owed.ts";
import { withProgress } from "../progress.ts";
import { deliverQueued } from "./drained.ts";
import { withLongTransaction } from "./long-transaction.ts";

/** Rows leased and marked a second, and milliseconds that the beat's beginning and end take; with nothing owed too. */
export type Leasing = { rate: Series; begin: Series; finish: Series; idle: Series; size: Size };

export type Pressure = {
  held: Leasing;
  free: Leasing;
  /** Of the rates, and of whole beats, with the beginning and the end. */
  ratio: Series;
  wholeBeats: Series;
};

export type PressureOptions = { rows: number; drained: number; runs: number };

/** Rows that a beat drains before the measurement. */
const slice = 50_000;

/** What was drained was due before what is owed: a backlog drains in its order. */
const before = { from: 60, to: 30 };
const after = { from: 30, to: 0 };

/** The part of these minutes that begins after `done` of `all`, to their end or the next one's beginning. */
function spanOf(done: number, all: number, { from, to }: { from: number; to: number }, step = 1): Due {
  const at = (share: number) => `${from - (from - to) * Math.min(1, share)} minutes`;
  return { from: at(done / all), to: at((done + step) / all) };
}

/**
 * Leases and marks rows where a transaction that is open since before the backlog was drained keeps vacuum from clearing
 * anything away, by turns with a ledger of as many rows where nobody does.
 */
export async function measurePressure(
  held: LedgerDatabase,
  free: LedgerDatabase,
  { rows, drained, runs }: PressureOptions,
): Promise<Pressure> {
  await addHistory(free.setUp, drained);
  await settle(free.setUp);
  return await withLongTransaction(held.setUp, async () => {
    await withProgress("rows drained beside a long transaction", drained, async (update) => {
      for (let done = 0; done < drained; done += slice) {
        await drainOnce(held, Math.min(slice, drained - done), spanOf(done, drained, before, slice));
        update(done + slice);
      }
    });
    const beats = { held: [] as Beats[], free: [] as Beats[] };
    await withProgress(`${rows} rows leased, with and without the long transaction`, runs, async (update) => {
      for (let run = 1; run <= runs; run += 1) {
        const due = spanOf(run - 1, runs, after);
        beats.held.push(await drainOnce(held, rows, due));
        beats.free.push(await drainOnce(free, rows, due));
        update(run);
      }
    });
    const ratios = (seconds: (beat: Beat) => number) =>
      series(beats.free.map((beat, run) => seconds(beat.busy) / seconds(beats.held[run]?.busy ?? beat.busy)));
    return {
      held: leasingOf(beats.held, rows, await sizeOf(held.setUp)),
      free: leasingOf(beats.free, rows, await sizeOf(free.setUp)),
      ratio: ratios(({ lease }) => lease),
      wholeBeats: ratios(({ begin, lease, finish }) => begin + lease + finish),
    };
  });
}

type Beats = { busy: Beat; idle: Beat };

/** Rows that become owed, are leased and marked, and delivered; and then a beat with nothing owed. */
async function drainOnce(database: LedgerDatabase, rows: number, due: Due): Promise<Beats> {
  await oweRows(database.setUp, rows, due);
  await settle(database.setUp);
  const busy = await beat(database, rows);
  await deliverQueued(database.setUp);
  await settle(database.setUp);
  return { busy, idle: await beat(database, 0) };
}

const leasingOf = (beats: readonly Beats[], rows: number, size: Size): Leasing => ({
  rate: series(beats.map(({ busy }) => rows / busy.lease)),
  begin: series(beats.map(({ busy }) => busy.begin * 1000)),
  finish: series(beats.map(({ busy }) => busy.finish * 1000)),
  idle: series(beats.map(({ idle }) => (idle.begin + idle.finish) * 1000)),
  size,
});
