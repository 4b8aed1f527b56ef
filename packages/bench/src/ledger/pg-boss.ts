import type { Ledger } from "@owed/ledger";
import { PgBoss, type WorkOptions } from "pg-boss";
import { settle } from "../database/fill.ts";
import { connectionString, payloadOf, type Server, until } from "./peer.ts";

const queue = "notification";

const open = (postgres: Server): PgBoss => {
  // What it does beside its jobs is left out: nothing of ours runs beside ours either.
  const boss = new PgBoss({
    connectionString: connectionString(postgres),
    supervise: false,
    schedule: false,
  });
  boss.on("error", (error) => console.error(`pg-boss: ${error.message}`));
  return boss;
};

/** A new schema with so many jobs. */
export async function fillPgBoss(setUp: Ledger, postgres: Server, jobs: number): Promise<void> {
  await setUp.run((sql) => sql`DROP SCHEMA IF EXISTS pgboss CASCADE`, { repeatable: true });
  const boss = await open(postgres).start();
  try {
    await boss.createQueue(queue);
    for (let from = 0; from < jobs; from += 2000)
      await boss.insert(
        queue,
        Array.from({ length: Math.min(2000, jobs - from) }, (_, place) => ({
          data: payloadOf(from + place),
        })),
      );
  } finally {
    await boss.stop();
  }
  await settle(setUp, "pgboss.job_common");
}

/** Works off all jobs; the seconds end when the last one is completed. */
export async function workPgBoss(
  setUp: Ledger,
  postgres: Server,
  jobs: number,
  options: WorkOptions,
): Promise<{ rows: number; seconds: number }> {
  const boss = await open(postgres).start();
  try {
    const all = Promise.withResolvers<void>();
    let worked = 0;
    const start = performance.now();
    await boss.work(queue, options, async (batch) => {
      worked += batch.length;
      if (worked >= jobs) all.resolve();
    });
    await all.promise;
    await until(setUp, "SELECT NOT EXISTS (SELECT FROM pgboss.job WHERE state < 'completed') AS done");
    return { rows: worked, seconds: (performance.now() - start) / 1000 };
  } finally {
    await boss.stop();
  }
}
