import type { TestDatabase } from "../../../../tests/support/database.ts";

type Sql = Pick<TestDatabase, "sql">;

export type ChannelRow = {
  rate: number | null;
  quota: number | null;
  used: number | null;
  failures: number;
  openings: number;
  closed_at: Date | null;
  closed_for: string | null;
  closed_why: string | null;
  evidence_late_at: Date | null;
  /** Seconds for which it is closed from now on; negative when that has passed, infinite when only a person opens it. */
  closed: number | null;
};

export async function readChannel({ sql }: Sql, name = "email"): Promise<ChannelRow> {
  const [row] = await sql<(ChannelRow & { closed: string | null })[]>`
    SELECT *, CASE WHEN isfinite(closed_until) THEN extract(epoch FROM closed_until - clock_timestamp())::text
      ELSE closed_until::text END AS closed
    FROM owed.channel WHERE name = ${name}`;
  if (!row) throw new Error(`there is no channel ${name}`);
  const seconds = row.closed === "infinity" ? Number.POSITIVE_INFINITY : Number(row.closed);
  return { ...row, closed: row.closed === null ? null : seconds };
}

/** Sets columns of a channel's row to SQL expressions. */
export async function setChannel(
  { sql }: Sql,
  columns: Readonly<Record<string, string>>,
  name = "email",
): Promise<void> {
  const assignments = Object.entries(columns).map(([column, expression]) => `${column} = ${expression}`);
  await sql.unsafe(`UPDATE owed.channel SET ${assignments.join(", ")} WHERE name = $1::text`, [name]);
}

/** Closes a channel for so many seconds; null: for ever. */
export const shut = (
  database: Sql,
  seconds: number | null,
  { reason = "down", name = "email" }: { reason?: string; name?: string } = {},
): Promise<void> =>
  setChannel(
    database,
    {
      closed_at: "now()",
      closed_until: seconds === null ? "'infinity'" : `now() + make_interval(secs => ${seconds})`,
      closed_for: `'${reason}'`,
      closed_why: "'arranged'",
    },
    name,
  );
