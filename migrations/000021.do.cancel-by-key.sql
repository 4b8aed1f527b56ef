-- What an event makes moot is locked and cancelled by its keys, one by one, however large the ledger. Joined, a plan took a part
-- of the whole ledger for what may wait of each earlier event, and where most rows were pending it read all of them to lock a
-- handful. Otherwise as in migration 11.
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
  v_moot     uuid[];
  v_reasons  text[];
  v_bys      text[];
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
    SELECT array_agg(held.id), array_agg(judged.reason), array_agg(judged.by) INTO v_moot, v_reasons, v_bys
    FROM (
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
    ) AS judged
    CROSS JOIN LATERAL (
      SELECT locked.id FROM owed.notification locked WHERE locked.id = judged.id AND locked.state = 'pending'
      FOR NO KEY UPDATE SKIP LOCKED) AS held;
    UPDATE owed.notification n SET state = 'cancelled', cancelled_at = v_now, cancelled_by = held.by, owed_at = NULL,
      reason = held.reason
    FROM unnest(v_moot, v_reasons, v_bys) AS held (id, reason, by)
    WHERE n.id = held.id;
  END IF;
  outcome := 'recorded';
  RETURN NEXT;
END $$;
