import type { Ledger } from "@owed/ledger";
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import { settle } from "../database/fill.ts";
import { connectionString, payloadOf, type Server, until } from "./peer.ts";

const logger = new Logger(() => () => {});

/** A new schema with so many jobs. */
export async function fillGraphileWorker(setUp: Ledger, postgres: Server, jobs: number): Promise<void> {
  await setUp.run((sql) => sql`DROP SCHEMA IF EXISTS graphile_worker CASCADE`, { repeatable: true });
  const utils = await makeWorkerUtils({ connectionString: connectionString(postgres), logger });
  try {
    await utils.migrate();
    for (let from = 0; from < jobs; from += 5000)
      await utils.addJobs(
        Array.from({ length: Math.min(5000, jobs - from) }, (_, place) => ({
          identifier: "notify",
          payload: payloadOf(from + place),
        })),
      );
  } finally {
    await utils.release();
  }
  await settle(setUp, "graphile_worker._private_jobs");
}

export type WorkerOptions = Partial<GraphileConfig.WorkerOptions>;

/** Works off all jobs; the seconds end when the last one is out of its table. */
export async function workGraphileWorker(
  setUp: Ledger,
  postgres: Server,
  jobs: number,
  options: WorkerOptions,
): Promise<{ rows: number; seconds: number }> {
  const all = Promise.withResolvers<void>();
  let worked = 0;
  const start = performance.now();
  const runner = await run({
    noHandleSignals: true,
    logger,
    taskList: {
      notify: async () => {
        worked += 1;
        if (worked >= jobs) all.resolve();
      },
    },
    preset: { worker: { connectionString: connectionString(postgres), ...options } },
  });
  await all.promise;
  await until(setUp, "SELECT NOT EXISTS (SELECT FROM graphile_worker._private_jobs) AS done");
  const seconds = (performance.now() - start) / 1000;
  await runner.stop();
  return { rows: worked, seconds };
}
