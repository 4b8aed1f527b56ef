import type { WorkOptions } from "pg-boss";
import { oweRows, settle } from "../database/fill.ts";
import type { LedgerDatabase } from "../database/ledger-database.ts";
import { fillGraphileWorker, type WorkerOptions, workGraphileWorker } from "./graphile-worker.ts";
import { type Life, live } from "./life.ts";
import type { Server } from "./peer.ts";
import { fillPgBoss, workPgBoss } from "./pg-boss.ts";

/** Where everyone works. */
export type Arena = Pick<LedgerDatabase, "options" | "setUp"> & { postgres: Server };

export type Contestant = {
  name: string;
  /** How it is set, for the reader. */
  how: string;
  /** The part of the benchmark's rows that it works on: slow ones get fewer. */
  share: number;
  /** In place of a part: so many. */
  jobs?: number;
  /** Runs at most: where one tells everything. */
  runs?: number;
  fill(arena: Arena, rows: number): Promise<void>;
  work(arena: Arena, rows: number): Promise<{ rows: number; seconds: number }>;
};

const owed = (name: string, how: string, life: Life): Contestant => ({
  ...{ name, how, share: 1 },
  async fill({ setUp }, rows) {
    await oweRows(setUp, rows);
    await settle(setUp);
  },
  work: ({ options }) => live(options, life),
});

const pgBoss = (
  name: string,
  how: string,
  share: Pick<Contestant, "share" | "jobs" | "runs">,
  options: WorkOptions,
): Contestant => ({
  ...{ name, how, ...share },
  fill: ({ setUp, postgres }, rows) => fillPgBoss(setUp, postgres, rows),
  work: ({ setUp, postgres }, rows) => workPgBoss(setUp, postgres, rows, options),
});

const graphileWorker = (name: string, how: string, share: number, options: WorkerOptions): Contestant => ({
  ...{ name, how, share },
  fill: ({ setUp, postgres }, rows) => fillGraphileWorker(setUp, postgres, rows),
  work: ({ setUp, postgres }, rows) => workGraphileWorker(setUp, postgres, rows, options),
});

export const contestants = {
  batches: owed("Owed, batches of ten", "ten workers at once", { workers: 10, batch: 10 }),
  coalesced: owed("Owed, coalesced", "three workers, 300 messages at once", { workers: 3, batch: 300 }),
  // One job every two seconds: how many of them there are changes nothing.
  pgBossDefaults: pgBoss("pg-boss, defaults", "work()", { share: 1, jobs: 4, runs: 1 }, {}),
  pgBossTuned: pgBoss(
    "pg-boss, tuned",
    "work() with batches of 2,000, two workers, no pause between full batches",
    { share: 1 },
    { batchSize: 2000, localConcurrency: 2, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true },
  ),
  graphileDefaults: graphileWorker("graphile-worker, defaults", "ten jobs at once", 0.25, {
    concurrentJobs: 10,
  }),
  graphileTuned: graphileWorker(
    "graphile-worker, tuned",
    "local queue of 500, 24 jobs at once, completion in batches without delay",
    1,
    {
      ...{ concurrentJobs: 24, maxPoolSize: 10, localQueue: { size: 500 } },
      ...{ completeJobBatchDelay: 0, failJobBatchDelay: 0 },
    },
  ),
} satisfies Record<string, Contestant>;

export type Name = keyof typeof contestants;
