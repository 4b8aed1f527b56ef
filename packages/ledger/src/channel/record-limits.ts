import type { Ledger } from "../connect/ledger.ts";

/** What the provider lets us send: messages a second and in 24 hours; null: no limit is known. */
export type ChannelLimits = {
  rate: number | null;
  quota: number | null;
  used: number;
  /** False when the provider did not say, and is to be asked again; default true. */
  read?: boolean;
};

/**
 * Keeps a channel's limits. A quota that is used up closes the channel for so many seconds, until the limits are read
 * again; once there is some left, a channel that was closed for it is open. Returns whether the channel is closed.
 */
export async function recordLimits(
  ledger: Ledger,
  channel: string,
  { rate, quota, used, read = true }: ChannelLimits,
  closeFor: number,
): Promise<boolean> {
  const usedUp = quota !== null && used >= quota;
  const someLeft = quota !== null && used < quota;
  const [row] = await ledger.run(
    (sql) => sql<{ closed: boolean }[]>`
      WITH seen AS (
        SELECT name, closed_at, closed_until, closed_for, closed_why,
          ${usedUp} AND coalesce(closed_until < now() + make_interval(secs => ${closeFor}), true) AS closes,
          ${someLeft} AND closed_for = 'quota' AS opens
        FROM owed.channel WHERE name = ${channel} FOR NO KEY UPDATE
      )
      UPDATE owed.channel c SET rate = ${rate}, quota = ${quota}, used = ${used}, limits_read_at = CASE WHEN ${read} THEN now() END,
        closed_at = CASE WHEN closes THEN coalesce(CASE WHEN seen.closed_until > now() THEN seen.closed_at END, now())
          WHEN NOT opens THEN seen.closed_at END,
        closed_until = CASE WHEN closes THEN now() + make_interval(secs => ${closeFor}) WHEN NOT opens THEN seen.closed_until END,
        closed_for = CASE WHEN closes THEN 'quota' WHEN NOT opens THEN seen.closed_for END,
        closed_why = CASE WHEN closes THEN ${`${used} of ${quota} messages were sent in 24 hours`} WHEN NOT opens THEN seen.closed_why END
      FROM seen WHERE c.name = seen.name
      RETURNING coalesce(c.closed_until > now(), false) AS closed`,
    { repeatable: true },
  );
  return row?.closed ?? false;
}
