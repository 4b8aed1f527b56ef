import { claim, defaultDurations as durations, Ledger, record } from "@owed/ledger";
import { oweRows } from "../database/fill.ts";
import type { LedgerDatabase } from "../database/ledger-database.ts";
import { beat } from "../flat/leasing.ts";
import { type Size, sizeOf } from "../flat/owed.ts";
import { withProgress } from "../progress.ts";

export type ChurnOptions = { minutes: number; each: number };

export type Churn = {
  /** At the end of each minute. */
  sizes: Size[];
  /** The end of the last third of the minutes beside its beginning: of the owed index's bytes, and of the table's bytes a row. */
  indexGrowth: number;
  tableGrowth: number;
};

/** As Lambda hands them to deliver, and its event source's concurrency. */
const batch = 10;
const workers = 4;

/**
 * So many minutes of work without a pause between them: rows become owed, are leased, marked, claimed and recorded as
 * delivered by the shipped statements. Autovacuum has its shipped settings, and wakes each second for each minute.
 */
export async function measureChurn(
  database: LedgerDatabase,
  { minutes, each }: ChurnOptions,
): Promise<Churn> {
  const { setUp, options } = database;
  await setUp.run((sql) => sql`ALTER SYSTEM SET autovacuum_naptime = '1s'`, { repeatable: true });
  await setUp.run((sql) => sql`SELECT pg_reload_conf()`, { repeatable: true });
  const ledger = new Ledger({ ...options, connections: workers });
  try {
    const sizes = await withProgress(`minutes with ${each} rows each`, minutes, async (update) => {
      const sizes: Size[] = [];
      for (let minute = 1; minute <= minutes; minute += 1) {
        await oweRows(setUp, each);
        await beat(database, each);
        await deliver(ledger);
        sizes.push(await sizeOf(setUp));
        update(minute);
      }
      return sizes;
    });
    return {
      sizes,
      indexGrowth: growth(sizes.map(({ owedIndex }) => owedIndex)),
      tableGrowth: growth(sizes.map(({ table, rows }) => table / rows)),
    };
  } finally {
    await ledger.close();
  }
}

/** The end of the last third beside its beginning: how large the busiest minute made it shows before. */
export const growth = (values: readonly number[]): number =>
  (values.at(-1) ?? Number.NaN) / (values[Math.floor((2 * values.length) / 3)] ?? Number.NaN);

async function deliver(ledger: Ledger): Promise<void> {
  const queued = await ledger.run(
    (sql) => sql<{ id: string; generation: number }[]>`
      SELECT id, generation FROM owed.notification WHERE owed_at IS NOT NULL AND state = 'queued' ORDER BY id`,
    { repeatable: true },
  );
  const rows = [...queued];
  const work = async () => {
    for (let taken = rows.splice(0, batch); taken.length > 0; taken = rows.splice(0, batch)) {
      const messages = taken.map((row) => ({ ...row, messageId: row.id, sentAt: Date.now() }));
      const verdicts = await claim(ledger, durations, messages);
      const results = taken.map(({ id }, place) => {
        const verdict = verdicts[place];
        if (verdict?.verdict !== "claimed") throw new Error(`${id} was not claimed: ${verdict?.verdict}`);
        const outcome = { kind: "accepted", provider: "ses", providerMessageId: id } as const;
        return { id, token: verdict.token, outcome };
      });
      const fenced = await record(ledger, durations, results);
      if (fenced.size > 0) throw new Error(`${fenced.size} rows were not recorded`);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
}
