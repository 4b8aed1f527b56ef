import type { Ledger } from "../connect/ledger.ts";

/** What a worker met on a channel in one batch. */
export type Trouble = {
  channel: string;
  /** The provider answered others of the batch: it works, whatever it says besides. */
  answered: boolean;
  /** Calls that failed. They count in a row only where nobody was answered. */
  failures: number;
  /** Seconds for which the provider must not be called, and why; null: the breaker decides. */
  close: { for: "throttled" | "quota" | "account"; seconds: number } | null;
  /** For the record: short, without personal data. */
  why: string;
};

/** When a channel's breaker opens, and for how many seconds: twice as long each time, up to the longest. */
export type Breaker = { failures: number; first: number; longest: number };

/**
 * Keeps what went wrong with a channel's provider. After so many failures in a row the breaker opens: nothing is
 * leased or sent until it has waited, and the backlog stays in the ledger. Returns for what the channel is closed
 * now, null when it is open.
 */
export async function recordTrouble(
  ledger: Ledger,
  breaker: Breaker,
  { channel, answered, failures, close, why }: Trouble,
): Promise<string | null> {
  const [row] = await ledger.run(
    (sql) => sql<{ closed_for: string | null }[]>`
      WITH seen AS (
        SELECT name, failures, openings, closed_at, closed_until, closed_for, closed_why,
          coalesce(closed_until <= now(), true) AS open
        FROM owed.channel WHERE name = ${channel} FOR NO KEY UPDATE
      ), closing AS (
        -- What the provider says counts; the breaker only guesses.
        SELECT name, ${close?.for ?? "down"}::text AS reason,
          now() + make_interval(secs => ${close?.seconds ?? null}::float8) AS until
        FROM seen WHERE ${close !== null} AND now() + make_interval(secs => ${close?.seconds ?? 0}) > coalesce(closed_until, '-infinity')
        UNION ALL
        SELECT name, 'down',
          now() + make_interval(secs => least(${breaker.longest}::float8, ${breaker.first}::float8 * 2 ^ least(openings, 20)))
        FROM seen WHERE ${close === null} AND open AND NOT ${answered} AND failures + ${failures}::int >= ${breaker.failures}::int
      )
      -- All of it from the locked row: until the update itself has waited, c is the row as it was when the statement
      -- began, and the table's constraint looks at the mixture.
      UPDATE owed.channel c SET
        failures = CASE WHEN ${answered} THEN 0 ELSE seen.failures + ${failures}::int END,
        -- A wait that the provider asks for is one as well when it has answered nobody: only a few rows try it afterwards.
        openings = CASE WHEN ${answered} THEN 0 WHEN closing.reason IN ('down', 'account')
            OR (closing.reason = 'throttled' AND seen.failures + ${failures}::int >= ${breaker.failures}::int)
          THEN greatest(seen.openings + seen.open::int, 1) ELSE seen.openings END,
        closed_at = CASE WHEN closing.name IS NULL OR NOT seen.open THEN seen.closed_at ELSE now() END,
        closed_until = coalesce(closing.until, seen.closed_until),
        closed_for = coalesce(closing.reason, seen.closed_for),
        closed_why = CASE WHEN closing.name IS NULL THEN seen.closed_why ELSE ${why} END
      FROM seen LEFT JOIN closing ON closing.name = seen.name
      WHERE c.name = seen.name
      RETURNING CASE WHEN c.closed_until > now() THEN c.closed_for END AS closed_for`,
    { repeatable: false },
  );
  return row?.closed_for ?? null;
}
