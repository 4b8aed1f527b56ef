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
  -- At a cancellation: why what it says made it so has not, by the ledger's tables.
  unfounded      text,
  -- At a lease: why it is not this row's turn, by the ledger's tables.
  out_of_turn    text,
  -- What somebody did to the history as a whole: `redrive`, `restore`.
  note           text
);

-- Every notification there ever was, by what it says to whom: an event recorded again after a restore gets new rows.
CREATE TABLE audit.known (id uuid PRIMARY KEY, key text NOT NULL);

CREATE TABLE audit.told (id uuid NOT NULL, kind text NOT NULL, reason text);

-- A newer status that the recipient was told, is owed by now, or that came too late or was replaced itself.
CREATE FUNCTION audit.replaces(older owed.event, who bigint, newer owed.event, at_once timestamptz) RETURNS boolean LANGUAGE sql AS $$
  SELECT newer.shipment_id = older.shipment_id AND (newer.occurred_at, newer.id) > (older.occurred_at, older.id) AND EXISTS (
    SELECT FROM owed.notification told
    WHERE told.event_key = newer.key AND told.subscriber_id = who AND (
      told.state = 'delivered'
      OR told.due_at <= clock_timestamp() AND (
        told.state NOT IN ('dead', 'cancelled') OR told.state = 'cancelled' AND told.reason IN ('expired', 'superseded'))))
$$;

CREATE FUNCTION audit.unfounded(n owed.notification, late boolean) RETURNS text LANGUAGE sql AS $$
  SELECT CASE
    WHEN n.reason = 'expired' AND n.send_by <= now() THEN nullif(n.cancelled_by, 'deadline')
    WHEN n.reason = 'opted_out' AND s.opted_out_at IS NOT NULL THEN nullif(n.cancelled_by, 'recipient')
    WHEN n.reason = 'suppressed' THEN nullif(n.cancelled_by, (SELECT 'suppression ' || x.id FROM owed.suppression x
      WHERE x.lifted_at IS NULL AND x.channel = n.channel AND x.address = lower(s.address)))
    WHEN n.reason LIKE 'cancelled: %' THEN CASE WHEN n.cancelled_by LIKE 'operator _%' THEN NULL ELSE n.cancelled_by END
    WHEN n.reason = 'superseded' AND n.replays IS NULL AND EXISTS (
      SELECT FROM owed.event newer
      WHERE n.cancelled_by = 'event ' || newer.id AND CASE
        WHEN late OR r.only_while_current AND sh.status <> e.status
          THEN newer.id = sh.status_event_id AND (newer.occurred_at, newer.id) > (e.occurred_at, e.id)
        ELSE r.newest_replaces AND audit.replaces(e, s.id, newer, n.cancelled_at) END) THEN NULL
    ELSE format('%s by %s', n.reason, coalesce(n.cancelled_by, 'nobody')) END
  FROM owed.event e JOIN owed.shipment sh ON sh.id = e.shipment_id, owed.subscriber s, owed.rule r
  WHERE e.key = n.event_key AND s.id = n.subscriber_id AND r.id = n.rule_id
$$;

-- Ingest leases at once only while the schedule beats, and nothing older of the group is unfinished; and a sweep nothing past
-- what ingest has just leased.
CREATE FUNCTION audit.out_of_turn(n owed.notification, at_once boolean) RETURNS text LANGUAGE sql AS $$
  SELECT CASE
    WHEN at_once AND NOT EXISTS (SELECT FROM owed.heartbeat WHERE paused_at IS NULL AND beat_at > now() - interval '2 minutes')
      THEN 'no sweep beats'
    WHEN at_once AND EXISTS (SELECT FROM owed.channel c WHERE c.name = n.channel AND (c.closed_until > now() OR c.openings > 0))
      THEN 'its channel is closed'
    ELSE (
      SELECT 'it comes after ' || older.id
      FROM owed.event own
      JOIN owed.event earlier ON earlier.shipment_id = own.shipment_id
      JOIN owed.notification older ON older.event_key = earlier.key AND older.subscriber_id = n.subscriber_id
      WHERE own.key = n.event_key AND (earlier.occurred_at, earlier.id, older.id) < (own.occurred_at, own.id, n.id)
        AND CASE WHEN at_once THEN older.state IN ('pending', 'leased', 'queued', 'sending') AND older.due_at <= now()
          ELSE older.state = 'leased' AND older.owed_at > now() AND EXISTS (SELECT FROM audit.change c
            WHERE c.id = older.id AND c.became = 'leased' AND c.token = older.lease_token AND starts_with(c.by, 'ingest')) END
      LIMIT 1) END
$$;

CREATE FUNCTION audit.keep() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO audit.known
    SELECT NEW.id, e.id || ' ' || s.recipient_id || ' ' || r.template
    FROM owed.event e, owed.subscriber s, owed.rule r
    WHERE e.key = NEW.event_key AND s.id = NEW.subscriber_id AND r.id = NEW.rule_id;
    INSERT INTO audit.change (id, became, token, generation, attempts, resends, reason, unfounded)
    VALUES (NEW.id, NEW.state, NEW.lease_token, NEW.generation, NEW.attempts, NEW.resends, NEW.reason,
      CASE WHEN NEW.state = 'cancelled' THEN audit.unfounded(NEW, true) END);
    RETURN NULL;
  END IF;
  INSERT INTO audit.change (id, was, became, was_token, token, was_generation, generation, was_attempts, attempts, was_resends, resends,
    evidence, reason, message_id, owed, looked, moved_delivery, moot, unfounded, out_of_turn)
  VALUES (NEW.id, OLD.state, NEW.state, OLD.lease_token, NEW.lease_token, OLD.generation, NEW.generation, OLD.attempts, NEW.attempts,
    OLD.resends, NEW.resends, NEW.evidence, NEW.reason, NEW.message_id, NEW.owed_at IS NOT NULL,
    NEW.queued_at IS NOT DISTINCT FROM OLD.queued_at,
    OLD.delivered_at IS NOT NULL AND OLD.delivered_at IS DISTINCT FROM NEW.delivered_at,
    CASE WHEN NEW.state = 'sending' THEN (
      SELECT CASE WHEN NEW.send_by <= now() THEN 'expired' WHEN s.opted_out_at IS NOT NULL THEN 'opted_out'
        WHEN EXISTS (SELECT FROM owed.suppression x WHERE x.lifted_at IS NULL AND x.address = lower(s.address)) THEN 'suppressed'
        WHEN NEW.replays IS NULL AND r.newest_replaces AND EXISTS (
          -- What the same claim took may have been dead before it.
          SELECT FROM owed.event newer JOIN owed.notification told ON told.event_key = newer.key
          WHERE newer.shipment_id = e.shipment_id AND told.claimed_at IS DISTINCT FROM NEW.claimed_at
            AND told.subscriber_id = s.id AND audit.replaces(e, s.id, newer, NULL)) THEN 'superseded' END
      FROM owed.subscriber s, owed.rule r, owed.event e
      WHERE s.id = NEW.subscriber_id AND r.id = NEW.rule_id AND e.key = NEW.event_key) END,
    CASE WHEN NEW.state = 'cancelled' AND OLD.state <> 'cancelled' THEN audit.unfounded(NEW, false) END,
    CASE WHEN NEW.state = 'leased' AND NEW.lease_token > OLD.lease_token
      THEN audit.out_of_turn(NEW, starts_with(current_setting('audit.by', true), 'ingest')) END);
  RETURN NULL;
END $$;
CREATE TRIGGER keep AFTER INSERT OR UPDATE ON owed.notification FOR EACH ROW EXECUTE FUNCTION audit.keep();

CREATE FUNCTION audit.keep_told() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit.told VALUES (NEW.notification_id, NEW.kind, NEW.reason);
  RETURN NULL;
END $$;
CREATE TRIGGER keep AFTER INSERT ON owed.attempt FOR EACH ROW EXECUTE FUNCTION audit.keep_told();
