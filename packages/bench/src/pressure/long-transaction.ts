import type { Ledger } from "@owed/ledger";

/** Holds a transaction open, as a report or a forgotten session does, while some work is done. */
export async function withLongTransaction<T>(ledger: Ledger, work: () => Promise<T>): Promise<T> {
  const begun = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  const held = ledger.run(
    (sql) =>
      sql.begin("ISOLATION LEVEL REPEATABLE READ", async (transaction) => {
        // The snapshot is taken by the first statement.
        await transaction`SELECT FROM owed.heartbeat`;
        begun.resolve();
        await done.promise;
      }),
    { repeatable: false },
  );
  held.catch(begun.reject);
  try {
    await begun.promise;
    return await work();
  } finally {
    done.resolve();
    await held;
  }
}
