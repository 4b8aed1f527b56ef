-- Rules that people change: versions of which none is ever lost, times of day in the recipient's own zone, and what a
-- newer status does to what was not sent yet. And who sends: while a merchant moves over from another sender, the
-- ledger holds its rows for that one.

-- What a migration changes is locked at once, or let go again, as in migration 5: the shipments first, as in the platform's
-- transactions.
CREATE FUNCTION owed.lock_tables(VARIADIC p_tables regclass[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  patience text := current_setting('lock_timeout');
BEGIN
  PERFORM set_config('lock_timeout', '100ms', true);
  FOR attempt IN 1 .. 300 LOOP
    BEGIN
      EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE',
        (SELECT string_agg(given::text, ', ' ORDER BY place) FROM unnest(p_tables) WITH ORDINALITY AS tables (given, place)));
      PERFORM set_config('lock_timeout', patience, true);
      RETURN;
    EXCEPTION WHEN lock_not_available THEN
      PERFORM pg_sleep(0.1 * random());
    END;
  END LOOP;
  RAISE EXCEPTION 'the ledger''s tables are in use by a long transaction: see pg_stat_activity, and migrate again'
    USING ERRCODE = 'lock_not_available';
END $$;
REVOKE EXECUTE ON FUNCTION owed.lock_tables FROM PUBLIC;

SELECT owed.lock_tables('owed.shipment', 'owed.merchant', 'owed.subscriber', 'owed.rule', 'owed.notification',
  'owed.channel', 'owed.suppression', 'owed.moot');

ALTER TABLE owed.merchant
  ADD COLUMN tracking_url text CHECK (tracking_url ~ '^https://[^[:space:][:cntrl:]]+$' AND length(tracking_url) <= 408),
  ADD COLUMN time_zone    text CHECK (time_zone ~ '^(UTC|[A-Za-z]+(/[A-Za-z0-9_+-]+){1,2})$'),
  ADD COLUMN mode         text NOT NULL DEFAULT 'owed' CHECK (mode IN ('old', 'shadow', 'owed'));
COMMENT ON COLUMN owed.merchant.tracking_url IS 'a page about the parcel; {tracking_number} stands for its number';
COMMENT ON COLUMN owed.merchant.mode IS 'who sends: the old sender; the old one while ours is watched (shadow); or Owed';

ALTER TABLE owed.subscriber
  ADD COLUMN time_zone text CHECK (time_zone ~ '^(UTC|[A-Za-z]+(/[A-Za-z0-9_+-]+){1,2})$'),
  ADD COLUMN erased_at timestamptz;
COMMENT ON COLUMN owed.subscriber.time_zone IS 'by its name in the IANA database; null: the merchant''s';
COMMENT ON COLUMN owed.subscriber.erased_at IS 'since when nothing is kept here of who it was';

-- A rule is never changed: its next version replaces it, and a notification keeps the one that it came from.
ALTER TABLE owed.rule
  ADD COLUMN at_time    time,
  ADD COLUMN silent     boolean NOT NULL DEFAULT false,
  ADD COLUMN version    integer NOT NULL DEFAULT 1 CHECK (version > 0),
  ADD COLUMN replaces   bigint REFERENCES owed.rule,
  ADD COLUMN set_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  ADD COLUMN set_by     text NOT NULL DEFAULT 'owed',
  ADD COLUMN set_why    text NOT NULL DEFAULT 'the default rules',
  ADD COLUMN retired_at timestamptz,
  ADD COLUMN retired_by text,
  ADD COLUMN retired_why text,
  ADD CHECK (at_time < '24:00'),
  ADD CHECK (active OR retired_at IS NOT NULL) NOT VALID;
COMMENT ON COLUMN owed.rule.at_time IS 'due at the first such time of day, in the recipient''s zone, at or after the delay; null: right after the delay';
COMMENT ON COLUMN owed.rule.silent IS 'tells nobody: a merchant''s own stands in place of the default ones all the same';
COMMENT ON COLUMN owed.rule.newest_replaces IS 'not sent once a newer status is owed, or was told, to the same recipient on the same channel';

CREATE FUNCTION owed.refuse_to_rewrite_a_rule() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rule % is version % and stays so: set a new version instead', OLD.id, OLD.version USING ERRCODE = 'OW004';
END $$;
CREATE TRIGGER a_version_is_final BEFORE UPDATE ON owed.rule FOR EACH ROW
  WHEN (NOT OLD.active
    OR to_jsonb(NEW) - ARRAY['active', 'retired_at', 'retired_by', 'retired_why']
      <> to_jsonb(OLD) - ARRAY['active', 'retired_at', 'retired_by', 'retired_why'])
  EXECUTE FUNCTION owed.refuse_to_rewrite_a_rule();
REVOKE EXECUTE ON FUNCTION owed.refuse_to_rewrite_a_rule FROM PUBLIC;

ALTER TABLE owed.notification
  ADD COLUMN cancelled_by        text,
  ADD COLUMN mode                text CHECK (mode IN ('old', 'shadow')),
  ADD COLUMN shadow_published_at timestamptz,
  ADD COLUMN shadow_moot         text,
  ADD COLUMN old_claimed_at      timestamptz;
ALTER TABLE owed.notification
  DROP CONSTRAINT notification_evidence_check,
  ADD CONSTRAINT notification_evidence_check CHECK (evidence IN ('reply', 'feedback', 'operator', 'old_sender')) NOT VALID,
  -- What the old sender is to send, no step of Owed moves; and what is owed at no time, the old sender has.
  ADD CONSTRAINT held_for_the_old_sender CHECK (CASE
    WHEN state IN ('delivered', 'dead', 'cancelled') THEN true
    WHEN mode IS NULL THEN owed_at IS NULL OR owed_at < 'infinity'
    ELSE state = 'pending' AND owed_at = 'infinity' END) NOT VALID;
COMMENT ON COLUMN owed.notification.evidence IS
  'what says that it was sent: the provider''s reply, its own event, an operator, or the old sender';
COMMENT ON COLUMN owed.notification.cancelled_by IS 'what made it moot: the event, suppression or person, with its id';
COMMENT ON COLUMN owed.notification.mode IS 'the old sender sends it, and it is owed at infinity; null: Owed does';
COMMENT ON COLUMN owed.notification.shadow_published_at IS 'when Owed would have published it';
COMMENT ON COLUMN owed.notification.shadow_moot IS 'why Owed would not have sent it';
COMMENT ON COLUMN owed.notification.old_claimed_at IS 'since when the old sender is at work on it';

-- Of an erased person's address a suppression keeps a digest: that nobody writes to it again must hold, whoever registers it.
CREATE FUNCTION owed.address_digest(address text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT 'sha256:' || encode(sha256(convert_to(owed.address_key(address), 'UTF8')), 'hex')
$$;
-- The two forms in which a suppression may have an address.
CREATE FUNCTION owed.address_keys(address text) RETURNS text[] LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT ARRAY[owed.address_key(address), owed.address_digest(address)]
$$;
-- The form in which to write it down: once it was erased, never in full again.
CREATE FUNCTION owed.suppression_key(p_channel text, p_address text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN EXISTS (SELECT FROM owed.suppression x WHERE x.channel = $1 AND x.address = digest.key AND x.lifted_at IS NULL)
      OR EXISTS (SELECT FROM owed.suppression x WHERE x.channel = $1 AND x.address = digest.key AND x.lifted_at IS NOT NULL)
    THEN digest.key ELSE owed.address_key($2) END
  FROM (SELECT owed.address_digest($2) AS key) AS digest
$$;

-- Why a notification is no longer to be sent, or null while it is still true; and what made it so. The one place that says
-- so: read by lease and claim, and by an event about the notifications before it.
CREATE OR REPLACE VIEW owed.moot AS
SELECT judged.id, split_part(judged.why, ' ', 1) AS reason, substr(judged.why, strpos(judged.why || ' ', ' ') + 1) AS by
FROM (
  SELECT n.id, coalesce(
    CASE
      WHEN n.send_by <= now() THEN 'expired deadline'
      WHEN s.erased_at IS NOT NULL THEN 'erased recipient'
      WHEN s.opted_out_at IS NOT NULL THEN 'opted_out recipient'
    END,
    (SELECT CASE x.cause WHEN 'opted_out' THEN 'opted_out' ELSE 'suppressed' END || ' suppression ' || x.id
     FROM owed.suppression x
     WHERE x.channel = n.channel AND x.address = ANY (owed.address_keys(s.address)) AND x.lifted_at IS NULL LIMIT 1),
    CASE
      -- Who replays a delivered notification wants the older text once more.
      WHEN n.replays IS NOT NULL THEN NULL
      WHEN r.only_while_current AND sh.status <> e.status THEN 'superseded event ' || sh.status_event_id
      WHEN r.newest_replaces AND sh.status_event_id <> e.id THEN (
        -- LATERAL and OFFSET 0 leave the planner no choice: a short range of the primary key for each newer event,
        -- never a scan of the ledger, whatever the statistics say.
        SELECT 'superseded event ' || newer.id
        FROM owed.event newer CROSS JOIN LATERAL (
          SELECT FROM owed.notification told
          WHERE told.id > newer.key AND told.id <= owed.notification_id(newer.key, 65535)
            AND told.subscriber_id = n.subscriber_id
            -- A follow-up replaces nothing before it is due, and nor does what was given up, or cancelled for a reason of its
            -- own. What came too late still says that the older is not true any more.
            AND CASE told.state WHEN 'delivered' THEN true WHEN 'dead' THEN false
              WHEN 'cancelled' THEN told.reason IN ('expired', 'superseded')
              ELSE told.due_at <= greatest(now(), newer.recorded_at) END
          OFFSET 0) AS standing
        WHERE newer.shipment_id = e.shipment_id AND (newer.occurred_at, newer.id) > (e.occurred_at, e.id)
        ORDER BY newer.occurred_at DESC, newer.id DESC
        LIMIT 1)
    END) AS why
  FROM owed.notification n
  JOIN owed.subscriber s ON s.id = n.subscriber_id
  JOIN owed.rule r ON r.id = n.rule_id
  JOIN owed.event e ON e.key = n.event_key
  JOIN owed.shipment sh ON sh.id = e.shipment_id
) AS judged;

-- When a notification is due: the delay after the event, and then the first such time of day in the recipient's zone. A
-- time that the clocks skip is that much later on that day; one that they show twice is the second.
CREATE FUNCTION owed.due_at(occurred_at timestamptz, delay_s integer, at_time time, time_zone text) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN at_time IS NULL THEN owing.since ELSE (
      SELECT min(given.at) FROM (
        SELECT ((owing.since AT TIME ZONE time_zone)::date + days + at_time) AT TIME ZONE time_zone AS at
        FROM generate_series(0, 2) AS days) AS given
      WHERE given.at >= owing.since) END
  FROM (SELECT occurred_at + make_interval(secs => delay_s) AS since) AS owing
$$;

-- Whom an event tells what, and when: one row a subscriber and rule. `moot`: why not. Changes nothing.
CREATE FUNCTION owed.fan_out(p_shipment_id text, p_status text, p_occurred_at timestamptz, p_newest boolean, p_now timestamptz)
RETURNS TABLE (ordinal bigint, subscriber_id bigint, rule_id bigint, channel text, addressed boolean, due_at timestamptz,
  send_by timestamptz, moot text, by text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT row_number() OVER (ORDER BY s.id, r.id), s.id, r.id, s.channel, s.address IS NOT NULL,
    CASE WHEN r.delay_s = 0 AND r.at_time IS NULL THEN p_now
      ELSE owed.due_at(p_occurred_at, r.delay_s, r.at_time, coalesce(s.time_zone, m.time_zone, 'UTC')) END,
    p_occurred_at + make_interval(secs => r.send_within_s),
    CASE WHEN s.erased_at IS NOT NULL THEN 'erased'
      WHEN s.opted_out_at IS NOT NULL THEN 'opted_out'
      WHEN x.id IS NOT NULL THEN CASE x.cause WHEN 'opted_out' THEN 'opted_out' ELSE 'suppressed' END
      WHEN NOT p_newest AND (r.newest_replaces OR r.only_while_current) THEN 'superseded' END,
    CASE WHEN s.erased_at IS NOT NULL OR s.opted_out_at IS NOT NULL THEN 'recipient'
      WHEN x.id IS NOT NULL THEN 'suppression ' || x.id
      WHEN NOT p_newest AND (r.newest_replaces OR r.only_while_current) THEN 'event ' || sh.status_event_id END
  FROM owed.shipment sh
  JOIN owed.merchant m ON m.id = sh.merchant_id
  JOIN owed.subscriber s ON s.shipment_id = sh.id
  JOIN owed.rule r ON r.active AND NOT r.silent AND r.status = p_status AND r.role = s.role AND r.channel = s.channel
    AND (r.merchant_id = sh.merchant_id
      OR r.merchant_id IS NULL AND NOT EXISTS (
        SELECT FROM owed.rule own WHERE own.active AND own.merchant_id = sh.merchant_id
          AND own.status = r.status AND own.role = r.role AND own.channel = r.channel))
  LEFT JOIN LATERAL (
    SELECT out_of_use.id, out_of_use.cause FROM owed.suppression out_of_use
    WHERE out_of_use.channel = s.channel AND out_of_use.address = ANY (owed.address_keys(s.address)) AND out_of_use.lifted_at IS NULL
    LIMIT 1) AS x ON true
  WHERE sh.id = p_shipment_id
$$;

-- Records an event and fans it out to everyone who watches the shipment, and cancels what it makes moot of the events
-- before it, all in the caller's transaction. Idempotent by event id. Never raises for bad input, so that a batch's
-- neighbours are unharmed: the answer says `recorded`, `repeated` (the same event again: nothing was done) or `refused` with
-- the field and reason.
CREATE OR REPLACE FUNCTION owed.record_and_fan_out(p_id text, p_shipment_id text, p_status text, p_occurred_at timestamptz)
RETURNS TABLE (outcome text, field text, reason text, notifications integer)
LANGUAGE plpgsql AS $$
DECLARE
  v_shipment owed.shipment;
  v_known    owed.event;
  v_key      uuid := owed.new_event_key();
  v_now      timestamptz := clock_timestamp();
  v_newest   boolean;
  v_mode     text;
BEGIN
  notifications := 0;
  IF p_id IS NULL OR p_id !~ '^[A-Za-z0-9._:-]{1,128}$' THEN
    outcome := 'refused'; field := 'id'; reason := 'must be 1 to 128 characters of A-Z a-z 0-9 . _ : -';
  ELSIF NOT EXISTS (SELECT FROM owed.status WHERE name = p_status) THEN
    outcome := 'refused'; field := 'status'; reason := 'is not a known status';
  ELSIF p_occurred_at IS NULL OR NOT isfinite(p_occurred_at) THEN
    outcome := 'refused'; field := 'occurred_at'; reason := 'must be a time';
  ELSIF p_occurred_at > v_now + interval '5 minutes' THEN
    outcome := 'refused'; field := 'occurred_at'; reason := 'is more than five minutes in the future';
  END IF;
  IF outcome IS NOT NULL THEN RETURN NEXT; RETURN; END IF;

  -- The shipment's events are recorded one after the other, so that "the current status" has one meaning.
  SELECT * INTO v_shipment FROM owed.shipment WHERE id = p_shipment_id FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    outcome := 'refused'; field := 'shipment_id'; reason := 'is not a known shipment';
    RETURN NEXT; RETURN;
  END IF;

  INSERT INTO owed.event (key, id, shipment_id, status, occurred_at, recorded_at)
  VALUES (v_key, p_id, p_shipment_id, p_status, p_occurred_at, v_now)
  ON CONFLICT (id) DO NOTHING;
  IF NOT FOUND THEN
    SELECT * INTO v_known FROM owed.event WHERE id = p_id;
    IF (v_known.shipment_id, v_known.status, v_known.occurred_at) = (p_shipment_id, p_status, p_occurred_at) THEN
      outcome := 'repeated';
    ELSE
      outcome := 'refused'; field := 'id'; reason := 'is already taken by an event with other content';
    END IF;
    RETURN NEXT; RETURN;
  END IF;

  v_newest := v_shipment.status IS NULL
    OR (p_occurred_at, p_id) > (v_shipment.status_at, v_shipment.status_event_id);
  IF v_newest THEN
    UPDATE owed.shipment SET status = p_status, status_at = p_occurred_at, status_event_id = p_id
    WHERE id = p_shipment_id;
  END IF;

  -- A row must not come after its merchant's cutover, there or back, in the mode of before: nobody would send it, or both. So
  -- that one waits.
  v_mode := nullif(owed.keep_mode(v_shipment.merchant_id), 'owed');

  -- Who opted out, has no address, or would be told what is no longer true gets a row as well, already ended
  -- with its reason: months later the ledger says why nothing was sent.
  INSERT INTO owed.notification
    (id, event_key, subscriber_id, rule_id, channel, due_at, send_by, state, owed_at, reason, died_at, stopped_at,
     cancelled_at, cancelled_by, mode)
  SELECT owed.notification_id(v_key, told.ordinal), v_key, told.subscriber_id, told.rule_id, told.channel,
    told.due_at, told.send_by,
    CASE WHEN told.moot IS NOT NULL THEN 'cancelled' WHEN NOT told.addressed THEN 'dead' ELSE 'pending' END,
    CASE WHEN told.moot IS NULL AND told.addressed THEN CASE WHEN v_mode IS NULL THEN told.due_at ELSE 'infinity' END END,
    CASE WHEN told.moot IS NOT NULL THEN told.moot WHEN NOT told.addressed THEN 'no_address' END,
    CASE WHEN told.moot IS NULL AND NOT told.addressed THEN v_now END,
    CASE WHEN told.moot IS NULL AND NOT told.addressed THEN v_now END,
    CASE WHEN told.moot IS NOT NULL THEN v_now END,
    told.by, CASE WHEN told.moot IS NULL AND told.addressed THEN v_mode END
  FROM owed.fan_out(p_shipment_id, p_status, p_occurred_at, v_newest, v_now) AS told;
  GET DIAGNOSTICS notifications = ROW_COUNT;

  -- The old sender may have been faster than the event.
  IF v_mode IS NOT NULL THEN PERFORM owed.settle_early_sends(p_id); END IF;

  -- What somebody holds at this moment is skipped, and what is on its way already is left to its claim: no event ever waits
  -- for them, nor they for the transaction that it stands in, however long that stays open.
  IF v_newest AND v_shipment.status IS NOT NULL THEN
    UPDATE owed.notification n SET state = 'cancelled', cancelled_at = v_now, cancelled_by = held.by, owed_at = NULL,
      reason = held.reason
    FROM (
      SELECT locked.id, judged.reason, judged.by
      FROM owed.notification locked
      JOIN (
        SELECT waits.id, moot.reason, moot.by
        FROM owed.event e
        CROSS JOIN LATERAL (
          SELECT waits.id FROM owed.notification waits
          WHERE waits.id > e.key AND waits.id <= owed.notification_id(e.key, 65535)
            AND waits.state = 'pending' AND waits.mode IS NULL
          OFFSET 0) AS waits
        CROSS JOIN LATERAL (SELECT still.reason, still.by FROM owed.moot AS still WHERE still.id = waits.id OFFSET 0) AS moot
        WHERE e.shipment_id = p_shipment_id AND e.key <> v_key AND moot.reason IS NOT NULL
        OFFSET 0
      ) AS judged USING (id)
      WHERE locked.state = 'pending'
      FOR NO KEY UPDATE OF locked SKIP LOCKED
    ) AS held
    WHERE n.id = held.id;
  END IF;
  outcome := 'recorded';
  RETURN NEXT;
END $$;

-- What the platform may say about a merchant besides its name. Null leaves nothing behind.
CREATE FUNCTION owed.describe_merchant(p_id text, p_tracking_url text, p_time_zone text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  CASE
    WHEN NOT EXISTS (SELECT FROM owed.merchant WHERE id = p_id) THEN
      PERFORM owed.refuse('merchant_id', 'is not a known merchant');
    WHEN p_tracking_url !~ '^https://[^[:space:][:cntrl:]]+$' OR length(p_tracking_url) > 408 THEN
      PERFORM owed.refuse('tracking_url', 'must be an https address of at most 408 characters; {tracking_number} stands for the number');
    WHEN NOT owed.is_time_zone(p_time_zone) THEN
      PERFORM owed.refuse('time_zone', 'must be a name of the IANA database, such as Europe/Vienna');
    ELSE
  END CASE;
  UPDATE owed.merchant SET tracking_url = p_tracking_url, time_zone = p_time_zone
  WHERE id = p_id AND (tracking_url, time_zone) IS DISTINCT FROM (p_tracking_url, p_time_zone);
END $$;

-- PostgreSQL also takes abbreviations and rules of POSIX for a zone; a person's zone has a name.
CREATE FUNCTION owed.is_time_zone(given text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF given !~ '^(UTC|[A-Za-z]+(/[A-Za-z0-9_+-]+){1,2})$' THEN RETURN false; END IF;
  PERFORM now() AT TIME ZONE given;
  RETURN true;
EXCEPTION WHEN invalid_parameter_value THEN
  RETURN false;
END $$;

DROP FUNCTION owed.subscribe(text, text, text, text, text, text, text);
CREATE FUNCTION owed.subscribe(p_shipment_id text, p_recipient_id text, p_role text, p_channel text,
  p_address text, p_name text DEFAULT NULL, p_locale text DEFAULT 'en', p_time_zone text DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_id bigint;
BEGIN
  CASE
    WHEN NOT EXISTS (SELECT FROM owed.shipment WHERE id = p_shipment_id) THEN
      PERFORM owed.refuse('shipment_id', 'is not a known shipment');
    WHEN coalesce(p_recipient_id, '') !~ '^[A-Za-z0-9._:@-]{1,64}$' THEN
      PERFORM owed.refuse('recipient_id', 'must be 1 to 64 characters of A-Z a-z 0-9 . _ : @ -');
    WHEN coalesce(p_role, '') NOT IN ('buyer', 'merchant', 'agent', 'warehouse') THEN
      PERFORM owed.refuse('role', 'must be buyer, merchant, agent or warehouse');
    WHEN NOT EXISTS (SELECT FROM owed.channel WHERE name = p_channel) THEN
      PERFORM owed.refuse('channel', 'is not a known channel');
    WHEN p_address ~ '[[:cntrl:]]' OR length(p_address) > 320 THEN
      PERFORM owed.refuse('address', 'must be at most 320 characters without control characters');
    WHEN p_name ~ '[[:cntrl:]]' OR length(p_name) > 200 THEN
      PERFORM owed.refuse('name', 'must be at most 200 characters without control characters');
    WHEN coalesce(p_locale, '') !~ '^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$' THEN
      PERFORM owed.refuse('locale', 'must be a language tag such as de-AT (BCP 47)');
    WHEN NOT owed.is_time_zone(p_time_zone) THEN
      PERFORM owed.refuse('time_zone', 'must be a name of the IANA database, such as Europe/Vienna');
    ELSE
  END CASE;
  INSERT INTO owed.subscriber (shipment_id, recipient_id, role, channel, address, name, locale, time_zone)
  VALUES (p_shipment_id, p_recipient_id, p_role, p_channel, nullif(btrim(p_address), ''), nullif(btrim(p_name), ''), p_locale,
    p_time_zone)
  ON CONFLICT (shipment_id, recipient_id, channel) DO UPDATE
    SET role = excluded.role, address = excluded.address, name = excluded.name, locale = excluded.locale,
      time_zone = excluded.time_zone, erased_at = NULL
  RETURNING id INTO v_id;
  RETURN v_id;
END $$;

-- Sets a rule: its next version, when it differs from the one that counts. Returns the id of the version that counts now. A dry
-- run refuses what it would refuse, and changes nothing.
CREATE FUNCTION owed.set_rule(p_merchant_id text, p_status text, p_role text, p_channel text, p_template text,
  p_delay_s integer, p_at_time time, p_send_within_s integer, p_only_while_current boolean, p_newest_replaces boolean,
  p_on_unknown text, p_by text, p_why text, p_silent boolean DEFAULT false, p_dry_run boolean DEFAULT false) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_old  owed.rule;
  v_id   bigint;
  -- A time of day may be a whole day away, and two hours more where the clocks go back by as much (Antarctica/Troll).
  v_wait integer := CASE WHEN p_at_time IS NULL THEN 0 ELSE 26 * 3600 END;
BEGIN
  CASE
    WHEN p_merchant_id IS NOT NULL AND NOT EXISTS (SELECT FROM owed.merchant WHERE id = p_merchant_id) THEN
      PERFORM owed.refuse('merchant_id', 'is not a known merchant');
    WHEN NOT EXISTS (SELECT FROM owed.status WHERE name = p_status) THEN
      PERFORM owed.refuse('status', 'is not a known status');
    WHEN coalesce(p_role, '') NOT IN ('buyer', 'merchant', 'agent', 'warehouse') THEN
      PERFORM owed.refuse('role', 'must be buyer, merchant, agent or warehouse');
    WHEN NOT EXISTS (SELECT FROM owed.channel WHERE name = p_channel) THEN
      PERFORM owed.refuse('channel', 'is not a known channel');
    WHEN coalesce(p_template, '') !~ '^[a-z][a-z_.]{0,59}$' THEN
      PERFORM owed.refuse('template', 'must be 1 to 60 characters of a-z _ .');
    WHEN p_delay_s IS NULL OR p_delay_s NOT BETWEEN 0 AND 366 * 86400 THEN
      PERFORM owed.refuse('delay', 'must be 0 to 366 days');
    WHEN p_send_within_s <= p_delay_s + v_wait THEN
      PERFORM owed.refuse('send_within', 'must be more than the delay, and with a time of day 26 hours more');
    WHEN coalesce(p_on_unknown, '') NOT IN ('resend', 'hold') THEN
      PERFORM owed.refuse('on_unknown', 'must be resend or hold');
    ELSE
  END CASE;
  -- One after the other: the second of two finds the version of the first.
  PERFORM pg_advisory_xact_lock(hashtext('owed.set_rule'));
  SELECT * INTO v_old FROM owed.rule r
  WHERE (r.status, r.role, r.channel, r.template) = (p_status, p_role, p_channel, p_template)
    AND r.merchant_id IS NOT DISTINCT FROM p_merchant_id
  ORDER BY r.version DESC;
  IF v_old.active AND (v_old.delay_s, v_old.at_time, v_old.send_within_s, v_old.only_while_current, v_old.newest_replaces, v_old.on_unknown,
      v_old.silent) IS NOT DISTINCT FROM (p_delay_s, p_at_time, p_send_within_s, p_only_while_current, p_newest_replaces,
      p_on_unknown, p_silent) THEN
    RETURN v_old.id;
  END IF;
  IF p_dry_run THEN RETURN NULL; END IF;
  UPDATE owed.rule SET active = false, retired_at = clock_timestamp(), retired_by = p_by, retired_why = p_why
  WHERE id = v_old.id AND active;
  INSERT INTO owed.rule (merchant_id, status, role, channel, template, delay_s, at_time, send_within_s, only_while_current,
    newest_replaces, on_unknown, silent, version, replaces, set_by, set_why)
  VALUES (p_merchant_id, p_status, p_role, p_channel, p_template, p_delay_s, p_at_time, p_send_within_s, p_only_while_current,
    p_newest_replaces, p_on_unknown, p_silent, coalesce(v_old.version, 0) + 1, v_old.id, p_by, p_why)
  RETURNING id INTO v_id;
  RETURN v_id;
END $$;

REVOKE EXECUTE ON FUNCTION owed.due_at, owed.fan_out, owed.describe_merchant, owed.is_time_zone, owed.subscribe, owed.set_rule
  FROM PUBLIC;
GRANT EXECUTE ON FUNCTION owed.describe_merchant, owed.subscribe TO owed_platform;
GRANT EXECUTE ON FUNCTION owed.fan_out TO owed_operator, owed_reader;
GRANT EXECUTE ON FUNCTION owed.set_rule, owed.refuse TO owed_operator;
GRANT SELECT ON owed.status, owed.merchant TO owed_operator;
GRANT INSERT (merchant_id, status, role, channel, template, delay_s, at_time, send_within_s, only_while_current, newest_replaces,
    on_unknown, silent, version, replaces, set_by, set_why),
  UPDATE (active, retired_at, retired_by, retired_why) ON owed.rule TO owed_operator;
GRANT UPDATE (cancelled_by) ON owed.notification TO owed_sweep, owed_deliver, owed_operator;
GRANT SELECT (mode) ON owed.notification TO owed_deliver;
GRANT SELECT (time_zone) ON owed.subscriber TO owed_deliver, owed_operator, owed_reader;
-- What a dry run of the rules asks.
GRANT SELECT (id, merchant_id, status_at) ON owed.shipment TO owed_operator;
