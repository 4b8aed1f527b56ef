import { setTimeout as sleep } from "node:timers/promises";
import type { Ledger } from "@owed/ledger";
import type { Stack } from "@owed/local/stack";
import { oweRows, settle } from "../database/fill.ts";

/** Seconds in which nothing is delivered until what is missing counts as lost. */
const patience = 30;

/**
 * From owed to delivered: sweeps, one after the other, until as many messages are acknowledged by the consumer as rows
 * were owed. Returns the seconds from the first sweep on.
 */
export async function deliverAll(stack: Stack, setUp: Ledger, rows: number): Promise<number> {
  await oweRows(setUp, rows);
  await settle(setUp);
  const { stats } = stack.sources.deliver;
  const before = { deleted: stats.deleted, sent: stack.ses.sent.length };
  const start = performance.now();
  let over = false;
  const sweeps = (async () => {
    while (!over) {
      await stack.schedule.trigger();
      await sleep(100);
    }
  })();
  try {
    await reach(() => stats.deleted - before.deleted, rows);
  } finally {
    over = true;
  }
  const seconds = (performance.now() - start) / 1000;
  await sweeps;
  const emails = stack.ses.sent.length - before.sent;
  if (emails !== rows) throw new Error(`the provider took ${emails} emails for ${rows} rows`);
  return seconds;
}

async function reach(count: () => number, expected: number): Promise<void> {
  let moved = performance.now();
  for (let last = -1; last < expected; ) {
    const now = count();
    if (now !== last) moved = performance.now();
    last = now;
    if (performance.now() - moved > patience * 1000)
      throw new Error(`only ${now} of ${expected} were delivered, and no more for ${patience} s`);
    await sleep(5);
  }
}
