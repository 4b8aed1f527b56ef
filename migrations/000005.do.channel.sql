-- A channel's limits and whether it is open: one row, read at lease and claim, written by whoever meets trouble. On
-- the clean way nobody writes it.

-- What this and the next migrations change is locked at once, or let go again: a transaction that has one of the
-- tables and waits for another would otherwise wait for us, and we for it. The shipments come first, as in the platform's
-- transactions. A tenth of a second is less than PostgreSQL's deadlock_timeout, so that nobody is chosen as a victim.
DO $$
DECLARE
  patience text := current_setting('lock_timeout');
BEGIN
  PERFORM set_config('lock_timeout', '100ms', true);
  FOR attempt IN 1 .. 300 LOOP
    BEGIN
      LOCK TABLE owed.shipment, owed.notification, owed.channel, owed.heartbeat, owed.sweep_run, owed.refused_event, owed.moot
        IN ACCESS EXCLUSIVE MODE;
      PERFORM set_config('lock_timeout', patience, true);
      RETURN;
    EXCEPTION WHEN lock_not_available THEN
      PERFORM pg_sleep(0.1 * random());
    END;
  END LOOP;
  RAISE EXCEPTION 'the ledger''s tables are in use by a long transaction: see pg_stat_activity, and migrate again'
    USING ERRCODE = 'lock_not_available';
END $$;

ALTER TABLE owed.channel
  ADD COLUMN rate             double precision CHECK (rate > 0),
  ADD COLUMN quota            integer CHECK (quota >= 0),
  ADD COLUMN used             integer CHECK (used >= 0),
  ADD COLUMN limits_read_at   timestamptz,
  ADD COLUMN failures         integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
  ADD COLUMN openings         integer NOT NULL DEFAULT 0 CHECK (openings >= 0),
  ADD COLUMN closed_at        timestamptz,
  ADD COLUMN closed_until     timestamptz,
  ADD COLUMN closed_for       text CHECK (closed_for IN ('down', 'throttled', 'quota', 'account', 'operator')),
  ADD COLUMN closed_why       text,
  ADD COLUMN evidence_late_at timestamptz,
  ADD CONSTRAINT closed_with_a_reason CHECK (
    (closed_until IS NULL) = (closed_for IS NULL) AND (closed_until IS NULL) = (closed_at IS NULL)
    AND (closed_until IS NULL) = (closed_why IS NULL));

COMMENT ON COLUMN owed.channel.rate IS 'messages a second that the provider takes; null: no limit is known';
COMMENT ON COLUMN owed.channel.quota IS 'messages in 24 hours; null: no limit is known';
COMMENT ON COLUMN owed.channel.used IS 'of the quota, when the limits were read';
COMMENT ON COLUMN owed.channel.failures IS 'provider calls that failed one after the other, without an answer that says it works';
COMMENT ON COLUMN owed.channel.openings IS 'how often the breaker has opened since the provider last worked: each time for longer';
COMMENT ON COLUMN owed.channel.closed_until IS 'nothing is leased or sent before; when it has passed, a few rows probe the provider';
COMMENT ON COLUMN owed.channel.evidence_late_at IS 'when the provider''s events were last seen to come late: resends wait';

-- Since when sweeps have followed one another without a gap: while the ledger was away, evidence could not come in.
ALTER TABLE owed.heartbeat
  ADD COLUMN beat_at       timestamptz,
  ADD COLUMN beating_since timestamptz NOT NULL DEFAULT now();

ALTER TABLE owed.sweep_run ADD COLUMN time_to_drain_s double precision;

-- What each channel has before it. Rows that wait for a look (queued for long, vanished, unknown) are flagged: most
-- sweeps have none. Reads what is owed now and what the queue has, whose rows are looked at again within
-- `lost_after` seconds; never the ledger's history.
CREATE FUNCTION owed.load(lost_after double precision)
RETURNS TABLE (channel text, due bigint, oldest_due_at timestamptz, in_queue bigint,
  queued_overdue boolean, unknown_due boolean, vanished boolean)
LANGUAGE sql STABLE AS $$
  SELECT n.channel,
    count(*) FILTER (WHERE n.state IN ('pending', 'leased') AND n.owed_at <= now()),
    min(n.due_at) FILTER (WHERE n.state IN ('pending', 'leased') AND n.owed_at <= now()),
    count(*) FILTER (WHERE n.state IN ('queued', 'sending') OR (n.state = 'leased' AND n.owed_at > now())),
    bool_or(n.state = 'queued' AND n.owed_at <= now()),
    bool_or(n.state = 'unknown' AND n.owed_at <= now()),
    bool_or(n.state = 'sending' AND n.owed_at <= now())
  FROM owed.notification n
  WHERE n.owed_at <= now() + make_interval(secs => lost_after)
  GROUP BY n.channel
$$;

-- Seconds until a channel has sent what is due: until it opens, and then at the provider's rate; where none is known,
-- at the pace of the last sweeps. Null when nobody can say.
CREATE FUNCTION owed.time_to_drain(c owed.channel, due bigint, in_queue bigint) RETURNS double precision
LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN due = 0 AND (c.rate IS NULL OR in_queue = 0) THEN 0
    WHEN c.closed_until > now() AND NOT isfinite(c.closed_until) THEN NULL
    ELSE CASE WHEN c.closed_until > now() THEN extract(epoch FROM c.closed_until - now())::float8 ELSE 0 END
      + CASE WHEN c.rate IS NOT NULL THEN (due + in_queue) / c.rate
        ELSE due / (
          SELECT sum(published) / nullif(sum(extract(epoch FROM finished_at - started_at)), 0)::float8
          FROM (SELECT * FROM owed.sweep_run WHERE published > 0 ORDER BY id DESC LIMIT 10) AS last_runs) END
    END
$$;
REVOKE EXECUTE ON FUNCTION owed.load, owed.time_to_drain FROM PUBLIC;
