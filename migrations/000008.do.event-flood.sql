-- A flood about one shipment: each of its rows is judged against every newer event's rows, so a few thousand events, or
-- some hundred watchers with some dozen, kept a whole sweep from ending, and everybody else waited. No shipment has a
-- hundred changes of status, or fifty who watch it; who sends more is told, and holds up nobody else.

ALTER FUNCTION owed.try_record_event(text, text, text, timestamptz) RENAME TO record_and_fan_out;

CREATE FUNCTION owed.try_record_event(p_id text, p_shipment_id text, p_status text, p_occurred_at timestamptz)
RETURNS TABLE (outcome text, field text, reason text, notifications integer)
LANGUAGE plpgsql AS $$
BEGIN
  -- An event that came before is repeated as ever.
  IF (SELECT count(*) FROM (SELECT FROM owed.event e WHERE e.shipment_id = p_shipment_id LIMIT 100) AS had) = 100
    AND NOT EXISTS (SELECT FROM owed.event e WHERE e.id = p_id)
  THEN
    RETURN QUERY SELECT 'refused', 'status', 'is the shipment''s 101st, more than a shipment has', 0;
  ELSE
    RETURN QUERY SELECT * FROM owed.record_and_fan_out(p_id, p_shipment_id, p_status, p_occurred_at);
  END IF;
END $$;

REVOKE EXECUTE ON FUNCTION owed.try_record_event FROM PUBLIC;

CREATE FUNCTION owed.refuse_crowd() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF (SELECT count(*) FROM (SELECT FROM owed.subscriber s WHERE s.shipment_id = NEW.shipment_id LIMIT 50) AS had) = 50
    -- Who watches already is only brought up to date.
    AND NOT EXISTS (SELECT FROM owed.subscriber s WHERE s.shipment_id = NEW.shipment_id
      AND (s.recipient_id, s.channel) = (NEW.recipient_id, NEW.channel))
  THEN
    PERFORM owed.refuse('shipment_id', 'has 50 subscribers, more than a shipment has');
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER not_a_crowd BEFORE INSERT ON owed.subscriber FOR EACH ROW EXECUTE FUNCTION owed.refuse_crowd();
REVOKE EXECUTE ON FUNCTION owed.refuse_crowd FROM PUBLIC;
