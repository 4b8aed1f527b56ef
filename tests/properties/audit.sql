-- What a history leaves behind beside the ledger itself, where neither the product nor a restored backup can change it.

CREATE SCHEMA audit;

CREATE TABLE audit.change (
  seq            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id             uuid,
  was            text,
  became         text,
  was_token      integer,
  token          integer,
  was_generation integer,
  generation     integer,
  was_attempts   integer,
  attempts       integer,
  was_resends    integer,
  resends        integer,
  evidence       text,
  reason         text,
  message_id     text,
  owed           boolean,
  looked         boolean,
  moved_delivery boolean,
  -- Whose statement it was; empty for all those that need not be told apart.
  by             text DEFAULT coalesce(current_setting('audit.by', true), ''),
  -- At a claim: why the notification must not be sent, by the ledger's tables and not by the product's view.
  moot           text,
  -- What somebody did to the history as a whole: `redrive`, `restore`.
  note           text
);

-- Every notification there ever was, by what it says to whom: an event recorded again after a restore gets new rows.
CREATE TABLE audit.known (id uuid PRIMARY KEY, key text NOT NULL);

CREATE TABLE audit.told (id uuid NOT NULL, kind text NOT NULL, reason text);

CREATE FUNCTION audit.keep() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO audit.known
    SELECT NEW.id, e.id || ' ' || s.recipient_id || ' ' || r.template
    FROM owed.event e, owed.subscriber s, owed.rule r
    WHERE e.key = NEW.event_key AND s.id = NEW.subscriber_id AND r.id = NEW.rule_id;
    INSERT INTO audit.change (id, became, token, generation, attempts, resends, reason)
    VALUES (NEW.id, NEW.state, NEW.lease_token, NEW.generation, NEW.attempts, NEW.resends, NEW.reason);
    RETURN NULL;
  END IF;
  INSERT INTO audit.change (id, was, became, was_token, token, was_generation, generation, was_attempts, attempts, was_resends, resends,
    evidence, reason, message_id, owed, looked, moved_delivery, moot)
  VALUES (NEW.id, OLD.state, NEW.state, OLD.lease_token, NEW.lease_token, OLD.generation, NEW.generation, OLD.attempts, NEW.attempts,
    OLD.resends, NEW.resends, NEW.evidence, NEW.reason, NEW.message_id, NEW.owed_at IS NOT NULL,
    NEW.queued_at IS NOT DISTINCT FROM OLD.queued_at,
    OLD.delivered_at IS NOT NULL AND OLD.delivered_at IS DISTINCT FROM NEW.delivered_at,
    CASE WHEN NEW.state = 'sending' THEN (
      SELECT CASE WHEN NEW.send_by <= now() THEN 'expired' WHEN s.opted_out_at IS NOT NULL THEN 'opted_out'
        WHEN EXISTS (SELECT FROM owed.suppression x WHERE x.lifted_at IS NULL AND x.address = lower(s.address)) THEN 'suppressed' END
      FROM owed.subscriber s WHERE s.id = NEW.subscriber_id) END);
  RETURN NULL;
END $$;
CREATE TRIGGER keep AFTER INSERT OR UPDATE ON owed.notification FOR EACH ROW EXECUTE FUNCTION audit.keep();

CREATE FUNCTION audit.keep_told() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit.told VALUES (NEW.notification_id, NEW.kind, NEW.reason);
  RETURN NULL;
END $$;
CREATE TRIGGER keep AFTER INSERT ON owed.attempt FOR EACH ROW EXECUTE FUNCTION audit.keep_told();
