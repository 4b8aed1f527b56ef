import { expect, vi } from "vitest";
import type { TestDatabase } from "../../../../tests/support/database.ts";

type Sql = TestDatabase["sql"];

/** Resolves when so many sessions of this database wait for a lock. */
export const waitsForLock = (sql: Sql, sessions = 1, milliseconds = 5000): Promise<void> =>
  vi.waitFor(async () => {
    const waiting = await sql`
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    expect(waiting).toHaveLength(sessions);
  }, milliseconds);

/** What the work answers, or `waits` when it first waits for a lock. */
export function orWaits<T>(sql: Sql, work: Promise<T>): Promise<T | "waits"> {
  const waits = waitsForLock(sql).then(() => "waits" as const);
  waits.catch(() => {});
  return Promise.race([work, waits]);
}

/**
 * Runs statements that all wait for one lock, in the order given, and then find what the one before has left. `lock`
 * takes it; the transaction around it commits.
 */
export async function race<T>(
  { sql }: Pick<TestDatabase, "sql">,
  lock: string,
  runs: readonly (() => Promise<T>)[],
): Promise<T[]> {
  const answers: Promise<T>[] = [];
  await sql.begin(async (holder) => {
    await holder.unsafe(lock);
    for (const run of runs) {
      answers.push(run());
      await waitsForLock(sql, answers.length);
    }
  });
  return Promise.all(answers);
}
