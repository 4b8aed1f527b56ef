import { setTimeout as sleep } from "node:timers/promises";
import { goOn, standStill } from "../../../packages/local/src/drill/stand-still.ts";
import type { Site } from "../support/site.ts";

/** How it stood at a second of the drill. */
export type Moment = { second: number; owed: number; sent: number };

export type Drill = {
  moments: Moment[];
  /** Seconds at which the schedule was paused and resumed. */
  paused: { from: number; to: number };
};

/** Seconds before the outage, in it, and after it at least. */
const lasts = { before: 12, outage: 15, after: 18 };
/** Events a second. */
const pace = 4;
/** Milliseconds between two looks. */
const step = 200;

/** An outage as the drill has it: a second stands for a minute. Ends when nothing is owed any more. */
export async function sufferOutage(site: Site): Promise<Drill> {
  const { stack, ledger } = site;
  const began = performance.now();
  const second = () => (performance.now() - began) / 1000;
  const course = observe(site, second);
  await letHappen(site, lasts.before);
  const from = second();
  await standStill(stack, ledger);
  await letHappen(site, lasts.outage);
  const to = second();
  await goOn(stack, ledger);
  await letHappen(site, lasts.after);
  while ((await count(site)).owed > 0) await sleep(step);
  return { moments: await course.end(), paused: { from, to } };
}

async function letHappen(site: Site, seconds: number): Promise<void> {
  for (const end = performance.now() + seconds * 1000; performance.now() < end; ) {
    const next = performance.now() + 1000;
    await site.happen(pace);
    await sleep(Math.max(0, next - performance.now()));
  }
}

/** What is owed: due and not ended, on its way too. And what was sent so far. */
async function count({ sql }: Site): Promise<{ owed: number; sent: number }> {
  const [row] = await sql<{ owed: number; sent: number }[]>`
    SELECT count(*) FILTER (WHERE due_at <= now() AND state NOT IN ('delivered', 'cancelled', 'dead'))::int AS owed,
      count(*) FILTER (WHERE state = 'delivered')::int AS sent
    FROM owed.notification`;
  if (!row) throw new Error("the ledger gave no answer");
  return row;
}

function observe(site: Site, second: () => number): { end(): Promise<Moment[]> } {
  const moments: Moment[] = [];
  const over = new AbortController();
  const look = async () => {
    moments.push({ second: second(), ...(await count(site)) });
  };
  const running = (async () => {
    while (!over.signal.aborted) {
      await look();
      await sleep(step);
    }
    await look();
  })();
  return {
    async end() {
      over.abort();
      await running;
      return moments;
    },
  };
}
