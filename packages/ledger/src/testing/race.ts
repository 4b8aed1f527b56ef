import { expect, vi } from "vitest";
import type { TestDatabase } from "../../../../tests/support/database.ts";

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
      await vi.waitFor(async () => {
        const waiting = await sql`
          SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
        expect(waiting).toHaveLength(answers.length);
      }, 5000);
    }
  });
  return Promise.all(answers);
}
