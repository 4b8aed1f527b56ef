-- Addresses that are not written to any more, since a message to them bounced for good or was complained about. Each
-- names the notification that led to it. A suppression that was lifted stays for the record, and what was sent before
-- that does not bring it back.

CREATE TABLE owed.suppression (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  channel         text NOT NULL REFERENCES owed.channel,
  -- As `owed.address_key` has it.
  address         text NOT NULL,
  cause           text NOT NULL CHECK (cause IN ('bounced', 'complained')),
  detail          text,
  notification_id uuid NOT NULL REFERENCES owed.notification,
  suppressed_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  lifted_at       timestamptz,
  lifted_by       text,
  lifted_why      text,
  CHECK ((lifted_at IS NULL) = (lifted_by IS NULL) AND (lifted_at IS NULL) = (lifted_why IS NULL))
);
CREATE UNIQUE INDEX suppression_once ON owed.suppression (channel, address) WHERE lifted_at IS NULL;
CREATE INDEX suppression_lifted ON owed.suppression (channel, address, lifted_at) WHERE lifted_at IS NOT NULL;

-- One mailbox, however it is written: no provider tells upper from lower case in practice (RFC 5321, section 2.4
-- advises against it).
CREATE FUNCTION owed.address_key(address text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT lower(btrim(address))
$$;

-- Of two things said of a delivered notification the higher one counts.
CREATE FUNCTION owed.rank(outcome text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array_position(ARRAY['none', 'accepted', 'arrived', 'bounced', 'complained'], outcome)
$$;

-- The reason why a notification is no longer to be sent, or null while it is still true. The one place that
-- says so: read at fan-out's heels by lease and claim.
CREATE OR REPLACE VIEW owed.moot AS
SELECT n.id,
  CASE
    WHEN n.send_by <= now() THEN 'expired'
    WHEN s.opted_out_at IS NOT NULL THEN 'opted_out'
    WHEN EXISTS (
      SELECT FROM owed.suppression x
      WHERE x.channel = n.channel AND x.address = owed.address_key(s.address) AND x.lifted_at IS NULL) THEN 'suppressed'
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
CREATE OR REPLACE FUNCTION owed.try_record_event(p_id text, p_shipment_id text, p_status text, p_occurred_at timestamptz)
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
           WHEN EXISTS (
             SELECT FROM owed.suppression x
             WHERE x.channel = s.channel AND x.address = owed.address_key(s.address) AND x.lifted_at IS NULL) THEN 'suppressed'
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

-- Which queue a refused event came by, so that it can be given back to it.
ALTER TABLE owed.refused_event
  ADD COLUMN queue      text NOT NULL DEFAULT 'event' CHECK (queue IN ('event', 'feedback')),
  ADD COLUMN retried_at timestamptz,
  ADD COLUMN retried_by text,
  ADD CHECK ((retried_at IS NULL) = (retried_by IS NULL));
UPDATE owed.refused_event SET queue = 'feedback' WHERE field = 'notification';
REVOKE EXECUTE ON FUNCTION owed.address_key, owed.rank FROM PUBLIC;
