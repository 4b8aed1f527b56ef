import type { TestDatabase } from "../../../../tests/support/database.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { type Retained, retain } from "../retain/retain.ts";

type Database = Pick<TestDatabase, "ledger" | "sql">;

export const retention = { days: 90, refusedDays: 30 };
const day = 86_400;

/** Lets so many days pass, and it is time for retention. */
export async function passDays({ sql }: Pick<TestDatabase, "sql">, days: number): Promise<void> {
  await passTime(sql, days * day);
}

/** Has retention look at everything again, now. */
export const startRound = ({ sql }: Pick<TestDatabase, "sql">) =>
  sql`UPDATE owed.retention SET next_at = now(), passed = '00000000-0000-0000-0000-000000000000'`;

/** Steps until there is no more to do. */
export async function retainAll({ ledger }: Pick<Database, "ledger">, most = 1000): Promise<Retained> {
  const total: Retained = { moved: 0, refused: 0, more: false };
  for (;;) {
    const step = await retain(ledger, retention, most);
    total.moved += step.moved;
    total.refused += step.refused;
    if (!step.more) return total;
  }
}

/** The ids that are still beside the living ones, and those in the archive, in their order. */
export async function whereRowsAre({
  sql,
}: Pick<TestDatabase, "sql">): Promise<{ here: string[]; archived: string[] }> {
  const rows = await sql<{ id: string; archived: boolean }[]>`
    SELECT id, false AS archived FROM owed.notification UNION ALL SELECT id, true FROM owed.notification_archive ORDER BY id`;
  return {
    here: rows.filter(({ archived }) => !archived).map(({ id }) => id),
    archived: rows.filter(({ archived }) => archived).map(({ id }) => id),
  };
}
