-- An event and its fan-out in one transaction: the platform's own, or ingest's.

-- A time-ordered uuid (version 7, RFC 9562) with its last sixteen bits left free for the ordinals of the
-- event's notifications. PostgreSQL has uuidv7() from 18 on; this runs on 16.
CREATE FUNCTION owed.new_event_key() RETURNS uuid LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
  SELECT (left(u, 32) || '0000')::uuid
  FROM (SELECT encode(
    set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
      PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6),
      52, 1), 53, 1), 'hex')::uuid::text AS u) AS v7
$$;

CREATE FUNCTION owed.notification_id(event_key uuid, ordinal bigint) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (left(event_key::text, 32) || lpad(to_hex(ordinal), 4, '0'))::uuid
$$;

-- The reason why a notification is no longer to be sent, or null while it is still true. The one place that
-- says so: read at fan-out's heels by lease and claim.
CREATE VIEW owed.moot AS
SELECT n.id,
  CASE
    WHEN n.send_by <= now() THEN 'expired'
    WHEN s.opted_out_at IS NOT NULL THEN 'opted_out'
    -- Who replays a delivered notification wants the older text once more.
    WHEN n.replays IS NOT NULL THEN NULL
    WHEN r.only_while_current AND sh.status <> e.status THEN 'superseded'
    WHEN r.newest_replaces AND sh.status_event_id <> e.id AND EXISTS (
      -- LATERAL and OFFSET 0 leave the planner no choice: a short range of the primary key for each newer event,
      -- never a scan of the ledger, whatever the statistics say.
      SELECT FROM owed.event newer CROSS JOIN LATERAL (
        SELECT FROM owed.notification told
        WHERE told.id > newer.key AND told.id <= owed.notification_id(newer.key, 65535)
          AND told.subscriber_id = n.subscriber_id AND told.state = 'delivered'
        OFFSET 0) AS delivered
      WHERE newer.shipment_id = e.shipment_id AND (newer.occurred_at, newer.id) > (e.occurred_at, e.id)
    ) THEN 'superseded'
  END AS reason
FROM owed.notification n
JOIN owed.subscriber s ON s.id = n.subscriber_id
JOIN owed.rule r ON r.id = n.rule_id
JOIN owed.event e ON e.key = n.event_key
JOIN owed.shipment sh ON sh.id = e.shipment_id;

-- Records an event and fans it out to everyone who watches the shipment, in one statement for all of them.
-- Idempotent by event id. Never raises for bad input, so that a batch's neighbours are unharmed: the answer
-- says `recorded`, `repeated` (the same event again: nothing was done) or `refused` with the field and reason.
CREATE FUNCTION owed.try_record_event(p_id text, p_shipment_id text, p_status text, p_occurred_at timestamptz)
RETURNS TABLE (outcome text, field text, reason text, notifications integer)
LANGUAGE plpgsql AS $$
DECLARE
  v_shipment owed.shipment;
  v_known    owed.event;
  v_key      uuid := owed.new_event_key();
  v_now      timestamptz := clock_timestamp();
  v_newest   boolean;
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

  -- Who opted out, has no address, or would be told what is no longer true gets a row as well, already ended
  -- with its reason: months later the ledger says why nothing was sent.
  INSERT INTO owed.notification
    (id, event_key, subscriber_id, rule_id, channel, due_at, send_by, state, owed_at, reason, died_at, stopped_at,
     cancelled_at)
  SELECT owed.notification_id(v_key, told.ordinal), v_key, told.subscriber_id, told.rule_id, told.channel,
    told.due_at, told.send_by,
    CASE WHEN told.moot IS NOT NULL THEN 'cancelled' WHEN told.address IS NULL THEN 'dead' ELSE 'pending' END,
    CASE WHEN told.moot IS NULL AND told.address IS NOT NULL THEN told.due_at END,
    CASE WHEN told.moot IS NOT NULL THEN told.moot WHEN told.address IS NULL THEN 'no_address' END,
    CASE WHEN told.moot IS NULL AND told.address IS NULL THEN v_now END,
    CASE WHEN told.moot IS NULL AND told.address IS NULL THEN v_now END,
    CASE WHEN told.moot IS NOT NULL THEN v_now END
  FROM (
    SELECT row_number() OVER (ORDER BY s.id, r.id) AS ordinal, s.id AS subscriber_id, r.id AS rule_id, s.channel, s.address,
      CASE WHEN r.delay_s = 0 THEN v_now ELSE p_occurred_at + make_interval(secs => r.delay_s) END AS due_at,
      p_occurred_at + make_interval(secs => r.send_within_s) AS send_by,
      CASE WHEN s.opted_out_at IS NOT NULL THEN 'opted_out'
           WHEN NOT v_newest AND (r.newest_replaces OR r.only_while_current) THEN 'superseded' END AS moot
    FROM owed.subscriber s
    JOIN owed.rule r ON r.active AND r.status = p_status AND r.role = s.role AND r.channel = s.channel
      AND (r.merchant_id = v_shipment.merchant_id
        OR r.merchant_id IS NULL AND NOT EXISTS (
          SELECT FROM owed.rule own WHERE own.active AND own.merchant_id = v_shipment.merchant_id
            AND own.status = r.status AND own.role = r.role AND own.channel = r.channel))
    WHERE s.shipment_id = p_shipment_id
  ) AS told;
  GET DIAGNOSTICS notifications = ROW_COUNT;
  outcome := 'recorded';
  RETURN NEXT;
END $$;

-- The same for the platform's own transactions: raises OW001 when the event is refused, so that the caller's
-- transaction does not commit a change of status that nobody will be told of.
CREATE FUNCTION owed.record_event(id text, shipment_id text, status text, occurred_at timestamptz) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  v_answer record;
BEGIN
  SELECT * INTO v_answer FROM owed.try_record_event(id, shipment_id, status, occurred_at);
  IF v_answer.outcome = 'refused' THEN
    RAISE EXCEPTION 'event % refused: % %', coalesce(quote_literal(left(id, 128)), 'without id'), v_answer.field, v_answer.reason
      USING ERRCODE = 'OW001', COLUMN = v_answer.field, HINT = 'Correct the field and record the event again.';
  END IF;
  RETURN v_answer.notifications;
END $$;
COMMENT ON FUNCTION owed.record_event IS 'records an event and its notifications in the caller''s transaction; returns how many are new; raises OW001 when refused';

-- Registering what is watched, and by whom. Each may be called again: the newest values count. What can't be
-- taken raises OW003 with the field and the reason, and without the value: it may be an address or a name.

CREATE FUNCTION owed.refuse(field text, reason text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% %', field, reason USING ERRCODE = 'OW003', COLUMN = field, HINT = 'Correct the field and call again.';
END $$;

CREATE FUNCTION owed.register_shipment(p_id text, p_merchant_id text, p_merchant_name text, p_tracking_number text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  CASE
    WHEN coalesce(p_id, '') !~ '^[A-Za-z0-9._:-]{1,64}$' THEN
      PERFORM owed.refuse('shipment_id', 'must be 1 to 64 characters of A-Z a-z 0-9 . _ : -');
    WHEN coalesce(p_merchant_id, '') !~ '^[A-Za-z0-9._:-]{1,64}$' THEN
      PERFORM owed.refuse('merchant_id', 'must be 1 to 64 characters of A-Z a-z 0-9 . _ : -');
    WHEN coalesce(length(p_merchant_name), 0) NOT BETWEEN 1 AND 200 OR p_merchant_name ~ '[[:cntrl:]]' THEN
      PERFORM owed.refuse('merchant_name', 'must be 1 to 200 characters without control characters');
    WHEN coalesce(length(p_tracking_number), 0) NOT BETWEEN 1 AND 64 OR p_tracking_number ~ '[[:cntrl:]]' THEN
      PERFORM owed.refuse('tracking_number', 'must be 1 to 64 characters without control characters');
    ELSE
  END CASE;
  INSERT INTO owed.merchant (id, name) VALUES (p_merchant_id, p_merchant_name)
  ON CONFLICT (id) DO UPDATE SET name = excluded.name WHERE merchant.name <> excluded.name;
  INSERT INTO owed.shipment (id, merchant_id, tracking_number) VALUES (p_id, p_merchant_id, p_tracking_number)
  ON CONFLICT (id) DO UPDATE SET tracking_number = excluded.tracking_number;
END $$;

CREATE FUNCTION owed.subscribe(p_shipment_id text, p_recipient_id text, p_role text, p_channel text,
  p_address text, p_name text DEFAULT NULL, p_locale text DEFAULT 'en') RETURNS bigint
LANGUAGE plpgsql AS $$
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
    ELSE
  END CASE;
  INSERT INTO owed.subscriber (shipment_id, recipient_id, role, channel, address, name, locale)
  VALUES (p_shipment_id, p_recipient_id, p_role, p_channel, nullif(btrim(p_address), ''), nullif(btrim(p_name), ''), p_locale)
  ON CONFLICT (shipment_id, recipient_id, channel) DO UPDATE
    SET role = excluded.role, address = excluded.address, name = excluded.name, locale = excluded.locale
  RETURNING id INTO v_id;
  RETURN v_id;
END $$;

-- True when the recipient was still subscribed.
CREATE FUNCTION owed.opt_out(p_shipment_id text, p_recipient_id text, p_channel text) RETURNS boolean
LANGUAGE sql AS $$
  WITH opted_out AS (
    UPDATE owed.subscriber SET opted_out_at = clock_timestamp()
    WHERE shipment_id = p_shipment_id AND recipient_id = p_recipient_id AND channel = p_channel AND opted_out_at IS NULL
    RETURNING 1)
  SELECT EXISTS (SELECT FROM opted_out)
$$;

-- The platform's role needs the right to call these four, and none to the tables behind them.
ALTER FUNCTION owed.record_event SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION owed.register_shipment SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION owed.subscribe SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION owed.opt_out SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA owed FROM PUBLIC;
