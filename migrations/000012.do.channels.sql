-- Text messages and webhooks beside email.

SELECT owed.lock_tables('owed.channel', 'owed.suppression');

ALTER TABLE owed.channel ADD COLUMN provider_tells boolean NOT NULL DEFAULT true;
COMMENT ON COLUMN owed.channel.provider_tells IS
  'its own events say what became of a message; where there are none, an unknown outcome waits for nothing: the receiver knows repeats by the notification''s id';
-- Until when an unknown outcome of a channel waits for evidence: `grace` seconds, or not at all where none can come.
CREATE FUNCTION owed.evidence_until(p_channel text, grace double precision) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT now() + make_interval(secs => CASE WHEN c.provider_tells THEN grace ELSE 0 END) FROM owed.channel c WHERE c.name = p_channel
$$;
REVOKE EXECUTE ON FUNCTION owed.evidence_until FROM PUBLIC;
GRANT EXECUTE ON FUNCTION owed.evidence_until TO owed_sweep, owed_deliver, owed_operator;

INSERT INTO owed.channel (name, provider_tells) VALUES ('sms', true), ('webhook', false);

-- Whoever is subscribed on a channel is told by it: people what cannot wait, and only while it is so, since no text takes it
-- back; a merchant's system everything.
INSERT INTO owed.rule (status, role, channel, template, delay_s, send_within_s, only_while_current, newest_replaces)
SELECT status, role, channel, template, delay_s, send_within_s, only_while_current, newest_replaces
FROM (VALUES
  ('customs_hold',       'buyer',    'sms',     'customs_hold',       0,     2 * 86400, true,  true),
  ('out_for_delivery',   'buyer',    'sms',     'out_for_delivery',   0,     43200,     true,  true),
  ('delivery_exception', 'buyer',    'sms',     'delivery_exception', 0,     86400,     true,  true),
  ('picked_up',          'merchant', 'webhook', 'picked_up',          0,     7 * 86400, false, false),
  ('customs_hold',       'merchant', 'webhook', 'customs_hold',       0,     7 * 86400, false, false),
  ('customs_hold',       'merchant', 'webhook', 'customs_hold.still', 86400, 7 * 86400, true,  false),
  ('customs_released',   'merchant', 'webhook', 'customs_released',   0,     7 * 86400, false, false),
  ('out_for_delivery',   'merchant', 'webhook', 'out_for_delivery',   0,     7 * 86400, false, false),
  ('delivery_exception', 'merchant', 'webhook', 'delivery_exception', 0,     7 * 86400, false, false),
  ('delivered',          'merchant', 'webhook', 'delivered',          0,     7 * 86400, false, false),
  ('returned',           'merchant', 'webhook', 'returned',           0,     7 * 86400, false, false)
) AS default_rule (status, role, channel, template, delay_s, send_within_s, only_while_current, newest_replaces);

-- Who answers a text message with STOP opts out of the channel as a whole, whichever message it was about.
ALTER TABLE owed.suppression
  DROP CONSTRAINT suppression_cause_check,
  ADD CONSTRAINT suppression_cause_check CHECK (cause IN ('bounced', 'complained', 'opted_out')),
  ALTER COLUMN notification_id DROP NOT NULL,
  ADD CHECK (cause = 'opted_out' OR notification_id IS NOT NULL);

-- One mailbox, however it is written: no provider tells upper from lower case in practice (RFC 5321, section 2.4 advises
-- against it). One telephone number likewise: E.164 is digits after a plus, the rest is there for people's eyes.
CREATE OR REPLACE FUNCTION owed.address_key(address text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN address ~ '^\s*\+[0-9 ()./-]+$' THEN regexp_replace(address, '[^+0-9]', '', 'g') ELSE lower(btrim(address)) END
$$;

-- The recipient's own word about an address: writes to it no more, or again. What was said first does not undo what was
-- said later, whatever order the words come in.
CREATE FUNCTION owed.hear_recipient(p_channel text, p_address text, p_stop boolean, p_said_at timestamptz) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  v_address text := owed.suppression_key(p_channel, p_address);
  v_at      timestamptz := least(p_said_at, clock_timestamp());
BEGIN
  IF EXISTS (SELECT FROM owed.suppression x WHERE x.channel = p_channel AND x.address = v_address AND x.cause = 'opted_out'
      AND CASE WHEN p_stop AND x.lifted_at IS NOT NULL THEN greatest(x.suppressed_at, x.lifted_at) > v_at
        ELSE greatest(x.suppressed_at, x.lifted_at) >= v_at END) THEN
    RETURN false;
  END IF;
  IF p_stop THEN
    INSERT INTO owed.suppression (channel, address, cause, suppressed_at) VALUES (p_channel, v_address, 'opted_out', v_at)
    ON CONFLICT (channel, address) WHERE lifted_at IS NULL DO UPDATE SET cause = excluded.cause, suppressed_at = excluded.suppressed_at;
    RETURN true;
  END IF;
  UPDATE owed.suppression SET lifted_at = v_at, lifted_by = 'recipient', lifted_why = 'asked to be written to again'
  WHERE channel = p_channel AND address = v_address AND lifted_at IS NULL AND cause = 'opted_out'
    AND suppressed_at < v_at;
  IF FOUND THEN RETURN true; END IF;
  -- Kept all the same: a word from before it may come after it.
  INSERT INTO owed.suppression (channel, address, cause, suppressed_at, lifted_at, lifted_by, lifted_why)
  VALUES (p_channel, v_address, 'opted_out', v_at, v_at, 'recipient', 'asked to be written to');
  RETURN false;
END $$;

REVOKE EXECUTE ON FUNCTION owed.hear_recipient FROM PUBLIC;
GRANT EXECUTE ON FUNCTION owed.hear_recipient TO owed_feedback;
GRANT SELECT (cause, suppressed_at, lifted_at), UPDATE (cause, suppressed_at, lifted_at, lifted_by, lifted_why),
    INSERT (suppressed_at, lifted_at, lifted_by, lifted_why)
  ON owed.suppression TO owed_feedback;
