import type { Ledger } from "../connect/ledger.ts";

export type CompareFilter = {
  /** Null: all merchants. */
  merchant: string | null;
  /** RFC 3339; from `since`, before `until`. Null: a day ago; now. */
  since: string | null;
  until: string | null;
};

/** How the two senders compare, for the notifications of one hour, channel and template. */
export type Compared = {
  hour: Date;
  channel: string;
  template: string;
  both: number;
  /** Owed would have sent it, and the old sender did not. */
  onlyNew: number;
  /** The old sender did, and Owed would not have. */
  onlyOld: number;
  neither: number;
  /** Fell due, and no sweep has judged it yet. */
  waiting: number;
  /** Sent by Owed itself, after the cutover. */
  owed: number;
  /** Certainly sent twice: by both, or more than once by the old sender. */
  twice: number;
  /** Seconds from Owed's publishing to the old sender's send, where both did: the middle one, and the one furthest off. */
  betweenMiddle: number | null;
  betweenMost: number | null;
};

/** What Owed would have sent beside what the old sender sent, by hour and kind. */
export async function compare(
  ledger: Ledger,
  { merchant, since, until }: CompareFilter,
): Promise<Compared[]> {
  return ledger.run(
    (sql) => sql<Compared[]>`
      SELECT date_trunc('hour', coalesce(due_at, old_sent_at), 'UTC') AS hour, channel, template,
        count(*) FILTER (WHERE verdict = 'both')::int AS both,
        count(*) FILTER (WHERE verdict = 'only_new')::int AS "onlyNew",
        count(*) FILTER (WHERE verdict = 'only_old')::int AS "onlyOld",
        count(*) FILTER (WHERE verdict = 'neither')::int AS neither,
        count(*) FILTER (WHERE verdict = 'waiting')::int AS waiting,
        count(*) FILTER (WHERE verdict = 'owed')::int AS owed,
        count(*) FILTER (WHERE verdict = 'twice')::int AS twice,
        percentile_cont(0.5) WITHIN GROUP (ORDER BY between_s) FILTER (WHERE verdict = 'both') AS "betweenMiddle",
        (array_agg(between_s ORDER BY abs(between_s) DESC) FILTER (WHERE verdict = 'both'))[1] AS "betweenMost"
      FROM (
        SELECT *, extract(epoch FROM old_sent_at - would_at)::float8 AS between_s
        FROM owed.compared(${merchant}, coalesce(${since}::text::timestamptz, now() - interval '1 day'), coalesce(${until}::text::timestamptz, now()))
      ) AS row
      GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
    { repeatable: true },
  );
}
