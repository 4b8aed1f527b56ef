-- What is owed, what was sent, and what must be looked at again.

-- An update logs the row from its first changed byte to its last: the columns that never change stand first, then
-- those of the claim, and those of the delivery at the end.
CREATE TABLE owed.notification (
  id                  uuid PRIMARY KEY,
  event_key           uuid NOT NULL REFERENCES owed.event,
  due_at              timestamptz NOT NULL,
  send_by             timestamptz,
  replays             uuid REFERENCES owed.notification,
  subscriber_id       bigint NOT NULL REFERENCES owed.subscriber,
  rule_id             bigint NOT NULL REFERENCES owed.rule,
  channel             text NOT NULL REFERENCES owed.channel,
  message_id          text,
  sent_to             text,
  leased_until        timestamptz,
  queued_at           timestamptz,
  claimed_at          timestamptz,
  died_at             timestamptz,
  stopped_at          timestamptz,
  cancelled_at        timestamptz,
  lease_token         integer NOT NULL DEFAULT 0,
  generation          integer NOT NULL DEFAULT 0 CHECK (generation >= 0),
  attempts            integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  rescues             smallint NOT NULL DEFAULT 0 CHECK (rescues BETWEEN 0 AND 3),
  resends             smallint NOT NULL DEFAULT 0 CHECK (resends BETWEEN 0 AND 3),
  owed_at             timestamptz,
  delivered_at        timestamptz,
  state               text NOT NULL DEFAULT 'pending',
  outcome             text NOT NULL DEFAULT 'none' CHECK (outcome IN ('none', 'accepted', 'arrived', 'bounced', 'complained')),
  provider            text,
  provider_message_id text,
  evidence            text CHECK (evidence IN ('reply', 'feedback', 'operator')),
  reason              text,

  CONSTRAINT state_is_known CHECK (state IN
    ('pending', 'leased', 'queued', 'sending', 'unknown', 'delivered', 'dead', 'cancelled')),
  -- Somebody looks again at every unfinished row; at a finished one nobody does. An unknown one may be held.
  CONSTRAINT owed_until_finished CHECK (CASE
    WHEN state IN ('pending', 'leased', 'queued', 'sending') THEN owed_at IS NOT NULL
    WHEN state IN ('delivered', 'dead', 'cancelled') THEN owed_at IS NULL
    ELSE true END),
  CONSTRAINT delivered_once CHECK ((state = 'delivered') = (delivered_at IS NOT NULL)),
  CONSTRAINT cancelled_at_a_time CHECK ((state = 'cancelled') = (cancelled_at IS NOT NULL)),
  CONSTRAINT delivered_on_evidence CHECK ((state = 'delivered') = (evidence IS NOT NULL)),
  CONSTRAINT outcome_after_the_end CHECK (outcome = 'none' OR state IN ('delivered', 'cancelled')),
  CONSTRAINT leased_has_an_end CHECK (state NOT IN ('leased', 'sending') OR leased_until IS NOT NULL),
  CONSTRAINT queued_has_a_time CHECK (state <> 'queued' OR queued_at IS NOT NULL),
  CONSTRAINT sending_was_claimed CHECK (state <> 'sending' OR (claimed_at IS NOT NULL AND message_id IS NOT NULL)),
  CONSTRAINT end_has_a_reason CHECK (state NOT IN ('dead', 'cancelled') OR reason IS NOT NULL),
  -- A person must look: dead, or unknown and held.
  CONSTRAINT stopped_needs_a_person CHECK (
    (stopped_at IS NOT NULL) = (state = 'dead' OR (state = 'unknown' AND owed_at IS NULL))),
  CONSTRAINT died_is_dead CHECK (died_at IS NULL OR state = 'dead')
) WITH (
  -- An update on the same page logs only the bytes that changed: half of each page is left for them.
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0.02
);

-- What is owed is one predicate on this one index. No other index may name a column that changes on the way
-- of a clean delivery (state among them): it would end the same-page updates that keep the ledger cheap.
CREATE INDEX notification_owed ON owed.notification (owed_at) WHERE owed_at IS NOT NULL;
CREATE INDEX notification_stopped ON owed.notification (stopped_at) WHERE stopped_at IS NOT NULL;

COMMENT ON COLUMN owed.notification.owed_at IS 'when somebody must look again; null when nobody must';
COMMENT ON COLUMN owed.notification.lease_token IS 'plus one at each lease and claim: fences every later write';
COMMENT ON COLUMN owed.notification.generation IS 'plus one at each deliberate re-publish: part of the deduplication id';
COMMENT ON COLUMN owed.notification.attempts IS 'provider calls started';
COMMENT ON COLUMN owed.notification.message_id IS 'the SQS message that claimed it last';
COMMENT ON COLUMN owed.notification.stopped_at IS 'since when it waits for a person';
COMMENT ON COLUMN owed.notification.evidence IS 'what says that the provider accepted: its reply, its own event, or an operator';
COMMENT ON COLUMN owed.notification.replays IS 'the delivered notification that an operator sent once more as this one';

-- A row never leaves delivered or cancelled, and delivered_at never moves: whoever writes, by whatever path. AFTER,
-- since a trigger that comes before locks, and logs, each row of every update for nothing.
CREATE FUNCTION owed.refuse_to_leave_the_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'notification % is % and stays so (asked to become %)', OLD.id, OLD.state, NEW.state
    USING ERRCODE = 'OW002', HINT = 'A delivered notification is not sent again; replay it as a new row.';
END $$;
CREATE TRIGGER the_end_is_final AFTER UPDATE ON owed.notification FOR EACH ROW
  WHEN (OLD.state IN ('delivered', 'cancelled')
        AND (NEW.state <> OLD.state OR NEW.delivered_at IS DISTINCT FROM OLD.delivered_at))
  EXECUTE FUNCTION owed.refuse_to_leave_the_end();

-- A clean first delivery leaves its whole story on its row; this table has the tries that were not clean, and
-- what people did.
CREATE TABLE owed.attempt (
  id                  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  notification_id     uuid NOT NULL REFERENCES owed.notification,
  at                  timestamptz NOT NULL DEFAULT clock_timestamp(),
  kind                text NOT NULL CHECK (kind IN ('failed', 'refused', 'exhausted', 'throttled', 'unknown', 'resent', 'held',
                        'rescued', 'lost', 'redriven', 'replayed', 'resolved', 'cancelled', 'duplicate')),
  generation          integer NOT NULL,
  message_id          text,
  provider_message_id text,
  actor               text,
  reason              text,
  CHECK (kind NOT IN ('replayed', 'resolved', 'cancelled', 'redriven') OR (actor IS NOT NULL AND reason IS NOT NULL))
);
CREATE INDEX attempt_notification ON owed.attempt (notification_id);
CREATE UNIQUE INDEX attempt_duplicate_once ON owed.attempt (notification_id, provider_message_id) WHERE kind = 'duplicate';

-- Events that were refused, kept for a look. The body is stored as bytes: it may hold anything.
CREATE TABLE owed.refused_event (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  refused_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  message_id  text NOT NULL UNIQUE,
  field       text NOT NULL,
  reason      text NOT NULL,
  body        bytea NOT NULL,
  body_bytes  integer NOT NULL,
  CHECK (octet_length(body) <= 65536)
);
COMMENT ON COLUMN owed.refused_event.body_bytes IS 'size of the whole body; the first 64 KiB are kept';
