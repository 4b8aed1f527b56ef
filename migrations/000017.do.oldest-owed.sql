-- A sweep begins where the oldest row is that is owed, and so walks over none of the entries that a long transaction keeps
-- vacuum from clearing out of the index. It counts what is owed anyway. So it does where a row is on its way to the queue, or
-- was refused and waits for its next try: nothing of its group overtakes it.

DROP FUNCTION owed.load(double precision);
CREATE FUNCTION owed.load(lost_after double precision, lease double precision DEFAULT 120)
RETURNS TABLE (channel text, due bigint, oldest_due_at timestamptz, in_queue bigint,
  queued_overdue boolean, unknown_due boolean, vanished boolean, oldest_owed_at timestamptz,
  on_the_way uuid[])
LANGUAGE sql STABLE AS $$
  SELECT n.channel,
    count(*) FILTER (WHERE n.state IN ('pending', 'leased') AND n.owed_at <= now()),
    min(n.due_at) FILTER (WHERE n.state IN ('pending', 'leased') AND n.owed_at <= now()),
    count(*) FILTER (WHERE n.state IN ('queued', 'sending') OR (n.state = 'leased' AND n.owed_at > now())),
    bool_or(n.state = 'queued' AND n.owed_at <= now()),
    bool_or(n.state = 'unknown' AND n.owed_at <= now()),
    bool_or(n.state = 'sending' AND n.owed_at <= now()),
    min(n.owed_at),
    array_agg(n.id) FILTER (WHERE n.state IN ('pending', 'leased') AND n.due_at <= now()
      AND n.owed_at > now() AND n.owed_at <= now() + make_interval(secs => lease))
  FROM owed.notification n
  WHERE n.owed_at <= now() + make_interval(secs => lost_after)
  GROUP BY n.channel
$$;
REVOKE EXECUTE ON FUNCTION owed.load FROM PUBLIC;
GRANT EXECUTE ON FUNCTION owed.load TO owed_sweep, owed_operator, owed_reader;
