-- What the migrations make: written by 'npm run schema', never by hand.

CREATE SCHEMA owed;

CREATE TABLE owed.attempt (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  notification_id uuid NOT NULL,
  at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  kind text NOT NULL,
  generation integer NOT NULL,
  message_id text,
  provider_message_id text,
  actor text,
  reason text,
  CONSTRAINT attempt_check CHECK ((kind <> ALL (ARRAY['replayed'::text, 'resolved'::text, 'cancelled'::text, 'redriven'::text])) OR actor IS NOT NULL AND reason IS NOT NULL),
  CONSTRAINT attempt_kind_check CHECK (kind = ANY (ARRAY['failed'::text, 'refused'::text, 'exhausted'::text, 'throttled'::text, 'unknown'::text, 'resent'::text, 'held'::text, 'rescued'::text, 'lost'::text, 'redriven'::text, 'replayed'::text, 'resolved'::text, 'cancelled'::text, 'duplicate'::text])),
  CONSTRAINT attempt_notification_id_fkey FOREIGN KEY (notification_id) REFERENCES owed.notification(id),
  CONSTRAINT attempt_pkey PRIMARY KEY (id)
);

CREATE UNIQUE INDEX attempt_duplicate_once ON owed.attempt USING btree (notification_id, provider_message_id) WHERE (kind = 'duplicate'::text);

CREATE INDEX attempt_notification ON owed.attempt USING btree (notification_id);

CREATE TABLE owed.channel (
  name text NOT NULL,
  rate double precision,
  quota integer,
  used integer,
  limits_read_at timestamp with time zone,
  failures integer DEFAULT 0 NOT NULL,
  openings integer DEFAULT 0 NOT NULL,
  closed_at timestamp with time zone,
  closed_until timestamp with time zone,
  closed_for text,
  closed_why text,
  evidence_late_at timestamp with time zone,
  CONSTRAINT channel_closed_for_check CHECK (closed_for = ANY (ARRAY['down'::text, 'throttled'::text, 'quota'::text, 'account'::text, 'operator'::text])),
  CONSTRAINT channel_failures_check CHECK (failures >= 0),
  CONSTRAINT channel_name_check CHECK (name ~ '^[a-z][a-z_]{0,19}$'::text),
  CONSTRAINT channel_openings_check CHECK (openings >= 0),
  CONSTRAINT channel_pkey PRIMARY KEY (name),
  CONSTRAINT channel_quota_check CHECK (quota >= 0),
  CONSTRAINT channel_rate_check CHECK (rate > 0::double precision),
  CONSTRAINT channel_used_check CHECK (used >= 0),
  CONSTRAINT closed_with_a_reason CHECK ((closed_until IS NULL) = (closed_for IS NULL) AND (closed_until IS NULL) = (closed_at IS NULL) AND (closed_until IS NULL) = (closed_why IS NULL))
);

CREATE TABLE owed.claim_mark (
  minute timestamp with time zone NOT NULL,
  queued_at timestamp with time zone NOT NULL,
  CONSTRAINT claim_mark_pkey PRIMARY KEY (minute)
);

CREATE TABLE owed.event (
  key uuid NOT NULL,
  id text NOT NULL,
  shipment_id text NOT NULL,
  status text NOT NULL,
  occurred_at timestamp with time zone NOT NULL,
  recorded_at timestamp with time zone NOT NULL,
  CONSTRAINT event_id_check CHECK (id ~ '^[A-Za-z0-9._:-]{1,128}$'::text),
  CONSTRAINT event_id_key UNIQUE (id),
  CONSTRAINT event_pkey PRIMARY KEY (key),
  CONSTRAINT event_shipment_id_fkey FOREIGN KEY (shipment_id) REFERENCES owed.shipment(id),
  CONSTRAINT event_status_fkey FOREIGN KEY (status) REFERENCES owed.status(name)
);

CREATE INDEX event_shipment ON owed.event USING btree (shipment_id, occurred_at, id);

CREATE TABLE owed.heartbeat (
  one boolean DEFAULT true NOT NULL,
  holder bigint,
  held_until timestamp with time zone,
  paused_at timestamp with time zone,
  paused_by text,
  paused_why text,
  queue_empty_since timestamp with time zone,
  beat_at timestamp with time zone,
  beating_since timestamp with time zone DEFAULT now() NOT NULL,
  restored_at timestamp with time zone,
  CONSTRAINT heartbeat_check CHECK ((holder IS NULL) = (held_until IS NULL)),
  CONSTRAINT heartbeat_check1 CHECK ((paused_at IS NULL) = (paused_by IS NULL)),
  CONSTRAINT heartbeat_one_check CHECK (one),
  CONSTRAINT heartbeat_pkey PRIMARY KEY (one)
);

CREATE TABLE owed.merchant (
  id text NOT NULL,
  name text NOT NULL,
  CONSTRAINT merchant_id_check CHECK (id ~ '^[A-Za-z0-9._:-]{1,64}$'::text),
  CONSTRAINT merchant_name_check CHECK (name !~ '[[:cntrl:]]'::text AND length(name) >= 1 AND length(name) <= 200),
  CONSTRAINT merchant_pkey PRIMARY KEY (id)
);

CREATE TABLE owed.migration (
  version bigint NOT NULL,
  name text,
  md5 text,
  run_at timestamp with time zone,
  CONSTRAINT migration_pkey PRIMARY KEY (version)
);

CREATE TABLE owed.notification (
  id uuid NOT NULL,
  event_key uuid NOT NULL,
  due_at timestamp with time zone NOT NULL,
  send_by timestamp with time zone,
  replays uuid,
  subscriber_id bigint NOT NULL,
  rule_id bigint NOT NULL,
  channel text NOT NULL,
  message_id text,
  sent_to text,
  leased_until timestamp with time zone,
  queued_at timestamp with time zone,
  claimed_at timestamp with time zone,
  died_at timestamp with time zone,
  stopped_at timestamp with time zone,
  cancelled_at timestamp with time zone,
  lease_token integer DEFAULT 0 NOT NULL,
  generation integer DEFAULT 0 NOT NULL,
  attempts integer DEFAULT 0 NOT NULL,
  rescues smallint DEFAULT 0 NOT NULL,
  resends smallint DEFAULT 0 NOT NULL,
  owed_at timestamp with time zone,
  delivered_at timestamp with time zone,
  state text DEFAULT 'pending'::text NOT NULL,
  outcome text DEFAULT 'none'::text NOT NULL,
  provider text,
  provider_message_id text,
  evidence text,
  reason text,
  CONSTRAINT cancelled_at_a_time CHECK ((state = 'cancelled'::text) = (cancelled_at IS NOT NULL)),
  CONSTRAINT delivered_on_evidence CHECK ((state = 'delivered'::text) = (evidence IS NOT NULL)),
  CONSTRAINT delivered_once CHECK ((state = 'delivered'::text) = (delivered_at IS NOT NULL)),
  CONSTRAINT died_is_dead CHECK (died_at IS NULL OR state = 'dead'::text),
  CONSTRAINT end_has_a_reason CHECK ((state <> ALL (ARRAY['dead'::text, 'cancelled'::text])) OR reason IS NOT NULL),
  CONSTRAINT leased_has_an_end CHECK ((state <> ALL (ARRAY['leased'::text, 'sending'::text])) OR leased_until IS NOT NULL),
  CONSTRAINT notification_attempts_check CHECK (attempts >= 0),
  CONSTRAINT notification_channel_fkey FOREIGN KEY (channel) REFERENCES owed.channel(name),
  CONSTRAINT notification_event_key_fkey FOREIGN KEY (event_key) REFERENCES owed.event(key),
  CONSTRAINT notification_evidence_check CHECK (evidence = ANY (ARRAY['reply'::text, 'feedback'::text, 'operator'::text])),
  CONSTRAINT notification_generation_check CHECK (generation >= 0),
  CONSTRAINT notification_outcome_check CHECK (outcome = ANY (ARRAY['none'::text, 'accepted'::text, 'arrived'::text, 'bounced'::text, 'complained'::text])),
  CONSTRAINT notification_pkey PRIMARY KEY (id),
  CONSTRAINT notification_replays_fkey FOREIGN KEY (replays) REFERENCES owed.notification(id),
  CONSTRAINT notification_rescues_check CHECK (rescues >= 0 AND rescues <= 3),
  CONSTRAINT notification_resends_check CHECK (resends >= 0 AND resends <= 3),
  CONSTRAINT notification_rule_id_fkey FOREIGN KEY (rule_id) REFERENCES owed.rule(id),
  CONSTRAINT notification_subscriber_id_fkey FOREIGN KEY (subscriber_id) REFERENCES owed.subscriber(id),
  CONSTRAINT outcome_after_the_end CHECK (outcome = 'none'::text OR (state = ANY (ARRAY['delivered'::text, 'cancelled'::text]))),
  CONSTRAINT owed_until_finished CHECK (
CASE
    WHEN state = ANY (ARRAY['pending'::text, 'leased'::text, 'queued'::text, 'sending'::text]) THEN owed_at IS NOT NULL
    WHEN state = ANY (ARRAY['delivered'::text, 'dead'::text, 'cancelled'::text]) THEN owed_at IS NULL
    ELSE true
END),
  CONSTRAINT queued_has_a_time CHECK (state <> 'queued'::text OR queued_at IS NOT NULL),
  CONSTRAINT sending_was_claimed CHECK (state <> 'sending'::text OR claimed_at IS NOT NULL AND message_id IS NOT NULL),
  CONSTRAINT state_is_known CHECK (state = ANY (ARRAY['pending'::text, 'leased'::text, 'queued'::text, 'sending'::text, 'unknown'::text, 'delivered'::text, 'dead'::text, 'cancelled'::text])),
  CONSTRAINT stopped_needs_a_person CHECK ((stopped_at IS NOT NULL) = (state = 'dead'::text OR state = 'unknown'::text AND owed_at IS NULL))
) WITH (
  autovacuum_analyze_scale_factor=0.02,
  autovacuum_vacuum_cost_delay=0,
  autovacuum_vacuum_scale_factor=0.01,
  autovacuum_vacuum_threshold=1000,
  fillfactor=50
);

CREATE INDEX notification_owed ON owed.notification USING btree (owed_at) WHERE (owed_at IS NOT NULL);

CREATE INDEX notification_stopped ON owed.notification USING btree (stopped_at) WHERE (stopped_at IS NOT NULL);

CREATE TABLE owed.refused_event (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  refused_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  message_id text NOT NULL,
  field text NOT NULL,
  reason text NOT NULL,
  body bytea NOT NULL,
  body_bytes integer NOT NULL,
  queue text DEFAULT 'event'::text NOT NULL,
  retried_at timestamp with time zone,
  retried_by text,
  CONSTRAINT refused_event_body_check CHECK (octet_length(body) <= 65536),
  CONSTRAINT refused_event_check CHECK ((retried_at IS NULL) = (retried_by IS NULL)),
  CONSTRAINT refused_event_message_id_key UNIQUE (message_id),
  CONSTRAINT refused_event_pkey PRIMARY KEY (id),
  CONSTRAINT refused_event_queue_check CHECK (queue = ANY (ARRAY['event'::text, 'feedback'::text]))
);

CREATE TABLE owed.rule (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  merchant_id text,
  status text NOT NULL,
  role text NOT NULL,
  channel text NOT NULL,
  template text NOT NULL,
  delay_s integer DEFAULT 0 NOT NULL,
  send_within_s integer,
  only_while_current boolean DEFAULT false NOT NULL,
  newest_replaces boolean DEFAULT true NOT NULL,
  on_unknown text DEFAULT 'resend'::text NOT NULL,
  active boolean DEFAULT true NOT NULL,
  CONSTRAINT rule_channel_fkey FOREIGN KEY (channel) REFERENCES owed.channel(name),
  CONSTRAINT rule_check CHECK (send_within_s > delay_s),
  CONSTRAINT rule_delay_s_check CHECK (delay_s >= 0 AND delay_s <= (366 * 86400)),
  CONSTRAINT rule_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES owed.merchant(id),
  CONSTRAINT rule_on_unknown_check CHECK (on_unknown = ANY (ARRAY['resend'::text, 'hold'::text])),
  CONSTRAINT rule_pkey PRIMARY KEY (id),
  CONSTRAINT rule_role_check CHECK (role = ANY (ARRAY['buyer'::text, 'merchant'::text, 'agent'::text, 'warehouse'::text])),
  CONSTRAINT rule_status_fkey FOREIGN KEY (status) REFERENCES owed.status(name),
  CONSTRAINT rule_template_check CHECK (template ~ '^[a-z][a-z_.]{0,59}$'::text)
);

CREATE UNIQUE INDEX rule_once ON owed.rule USING btree (status, role, channel, template, merchant_id) NULLS NOT DISTINCT WHERE active;

CREATE TABLE owed.shipment (
  id text NOT NULL,
  merchant_id text NOT NULL,
  tracking_number text NOT NULL,
  created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  status text,
  status_at timestamp with time zone,
  status_event_id text,
  CONSTRAINT shipment_check CHECK ((status IS NULL) = (status_at IS NULL) AND (status IS NULL) = (status_event_id IS NULL)),
  CONSTRAINT shipment_id_check CHECK (id ~ '^[A-Za-z0-9._:-]{1,64}$'::text),
  CONSTRAINT shipment_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES owed.merchant(id),
  CONSTRAINT shipment_pkey PRIMARY KEY (id),
  CONSTRAINT shipment_status_fkey FOREIGN KEY (status) REFERENCES owed.status(name),
  CONSTRAINT shipment_tracking_number_check CHECK (tracking_number !~ '[[:cntrl:]]'::text AND length(tracking_number) >= 1 AND length(tracking_number) <= 64)
) WITH (
  fillfactor=80
);

CREATE TABLE owed.status (
  name text NOT NULL,
  CONSTRAINT status_name_check CHECK (name ~ '^[a-z][a-z_]{0,39}$'::text),
  CONSTRAINT status_pkey PRIMARY KEY (name)
);

CREATE TABLE owed.subscriber (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  shipment_id text NOT NULL,
  recipient_id text NOT NULL,
  role text NOT NULL,
  channel text NOT NULL,
  address text,
  name text,
  locale text DEFAULT 'en'::text NOT NULL,
  opted_out_at timestamp with time zone,
  created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT subscriber_address_check CHECK (address !~ '[[:cntrl:]]'::text AND length(address) <= 320),
  CONSTRAINT subscriber_channel_fkey FOREIGN KEY (channel) REFERENCES owed.channel(name),
  CONSTRAINT subscriber_locale_check CHECK (locale ~ '^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$'::text),
  CONSTRAINT subscriber_name_check CHECK (name !~ '[[:cntrl:]]'::text AND length(name) <= 200),
  CONSTRAINT subscriber_pkey PRIMARY KEY (id),
  CONSTRAINT subscriber_recipient_id_check CHECK (recipient_id ~ '^[A-Za-z0-9._:@-]{1,64}$'::text),
  CONSTRAINT subscriber_role_check CHECK (role = ANY (ARRAY['buyer'::text, 'merchant'::text, 'agent'::text, 'warehouse'::text])),
  CONSTRAINT subscriber_shipment_id_fkey FOREIGN KEY (shipment_id) REFERENCES owed.shipment(id),
  CONSTRAINT subscriber_shipment_id_recipient_id_channel_key UNIQUE (shipment_id, recipient_id, channel)
);

CREATE TABLE owed.suppression (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  channel text NOT NULL,
  address text NOT NULL,
  cause text NOT NULL,
  detail text,
  notification_id uuid NOT NULL,
  suppressed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  lifted_at timestamp with time zone,
  lifted_by text,
  lifted_why text,
  CONSTRAINT suppression_cause_check CHECK (cause = ANY (ARRAY['bounced'::text, 'complained'::text])),
  CONSTRAINT suppression_channel_fkey FOREIGN KEY (channel) REFERENCES owed.channel(name),
  CONSTRAINT suppression_check CHECK ((lifted_at IS NULL) = (lifted_by IS NULL) AND (lifted_at IS NULL) = (lifted_why IS NULL)),
  CONSTRAINT suppression_notification_id_fkey FOREIGN KEY (notification_id) REFERENCES owed.notification(id),
  CONSTRAINT suppression_pkey PRIMARY KEY (id)
);

CREATE INDEX suppression_lifted ON owed.suppression USING btree (channel, address, lifted_at) WHERE (lifted_at IS NOT NULL);

CREATE UNIQUE INDEX suppression_once ON owed.suppression USING btree (channel, address) WHERE (lifted_at IS NULL);

CREATE TABLE owed.sweep_run (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  finished_at timestamp with time zone,
  leased integer,
  published integer,
  failed integer,
  cancelled integer,
  rescued integer,
  unknown integer,
  resent integer,
  owed integer,
  oldest_owed_s double precision,
  time_to_drain_s double precision,
  CONSTRAINT sweep_run_pkey PRIMARY KEY (id)
);

CREATE INDEX sweep_run_started ON owed.sweep_run USING btree (started_at);

CREATE VIEW owed.moot AS
 SELECT n.id,
        CASE
            WHEN n.send_by <= now() THEN 'expired'::text
            WHEN s.opted_out_at IS NOT NULL THEN 'opted_out'::text
            WHEN (EXISTS ( SELECT
               FROM owed.suppression x
              WHERE x.channel = n.channel AND x.address = owed.address_key(s.address) AND x.lifted_at IS NULL)) THEN 'suppressed'::text
            WHEN n.replays IS NOT NULL THEN NULL::text
            WHEN r.only_while_current AND sh.status <> e.status THEN 'superseded'::text
            WHEN r.newest_replaces AND sh.status_event_id <> e.id AND (EXISTS ( SELECT
               FROM owed.event newer
                 CROSS JOIN LATERAL ( SELECT
                       FROM owed.notification told
                      WHERE told.id > newer.key AND told.id <= owed.notification_id(newer.key, 65535::bigint) AND told.subscriber_id = n.subscriber_id AND told.state = 'delivered'::text
                     OFFSET 0) delivered
              WHERE newer.shipment_id = e.shipment_id AND ((ROW(newer.occurred_at, newer.id) > ROW(e.occurred_at, e.id))))) THEN 'superseded'::text
            ELSE NULL::text
        END AS reason
   FROM owed.notification n
     JOIN owed.subscriber s ON s.id = n.subscriber_id
     JOIN owed.rule r ON r.id = n.rule_id
     JOIN owed.event e ON e.key = n.event_key
     JOIN owed.shipment sh ON sh.id = e.shipment_id;

CREATE OR REPLACE FUNCTION owed.address_key(address text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  SELECT lower(btrim(address))
$function$;

CREATE OR REPLACE FUNCTION owed.load(lost_after double precision)
 RETURNS TABLE(channel text, due bigint, oldest_due_at timestamp with time zone, in_queue bigint, queued_overdue boolean, unknown_due boolean, vanished boolean)
 LANGUAGE sql
 STABLE
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION owed.new_event_key()
 RETURNS uuid
 LANGUAGE sql
 PARALLEL SAFE
AS $function$
  SELECT (left(u, 32) || '0000')::uuid
  FROM (SELECT encode(
    set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
      PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6),
      52, 1), 53, 1), 'hex')::uuid::text AS u) AS v7
$function$;

CREATE OR REPLACE FUNCTION owed.notification_id(event_key uuid, ordinal bigint)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  SELECT (left(event_key::text, 32) || lpad(to_hex(ordinal), 4, '0'))::uuid
$function$;

CREATE OR REPLACE FUNCTION owed.opt_out(p_shipment_id text, p_recipient_id text, p_channel text)
 RETURNS boolean
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  WITH opted_out AS (
    UPDATE owed.subscriber SET opted_out_at = clock_timestamp()
    WHERE shipment_id = p_shipment_id AND recipient_id = p_recipient_id AND channel = p_channel AND opted_out_at IS NULL
    RETURNING 1)
  SELECT EXISTS (SELECT FROM opted_out)
$function$;

CREATE OR REPLACE FUNCTION owed.rank(outcome text)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  SELECT array_position(ARRAY['none', 'accepted', 'arrived', 'bounced', 'complained'], outcome)
$function$;

CREATE OR REPLACE FUNCTION owed.record_and_fan_out(p_id text, p_shipment_id text, p_status text, p_occurred_at timestamp with time zone)
 RETURNS TABLE(outcome text, field text, reason text, notifications integer)
 LANGUAGE plpgsql
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION owed.record_event(id text, shipment_id text, status text, occurred_at timestamp with time zone)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  v_answer record;
BEGIN
  SELECT * INTO v_answer FROM owed.try_record_event(id, shipment_id, status, occurred_at);
  IF v_answer.outcome = 'refused' THEN
    RAISE EXCEPTION 'event % refused: % %', coalesce(quote_literal(left(id, 128)), 'without id'), v_answer.field, v_answer.reason
      USING ERRCODE = 'OW001', COLUMN = v_answer.field, HINT = 'Correct the field and record the event again.';
  END IF;
  RETURN v_answer.notifications;
END $function$;

CREATE OR REPLACE FUNCTION owed.refuse(field text, reason text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION '% %', field, reason USING ERRCODE = 'OW003', COLUMN = field, HINT = 'Correct the field and call again.';
END $function$;

CREATE OR REPLACE FUNCTION owed.refuse_crowd()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  IF (SELECT count(*) FROM (SELECT FROM owed.subscriber s WHERE s.shipment_id = NEW.shipment_id LIMIT 50) AS had) = 50
    -- Who watches already is only brought up to date.
    AND NOT EXISTS (SELECT FROM owed.subscriber s WHERE s.shipment_id = NEW.shipment_id
      AND (s.recipient_id, s.channel) = (NEW.recipient_id, NEW.channel))
  THEN
    PERFORM owed.refuse('shipment_id', 'has 50 subscribers, more than a shipment has');
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION owed.refuse_to_leave_the_end()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'notification % is % and stays so (asked to become %)', OLD.id, OLD.state, NEW.state
    USING ERRCODE = 'OW002', HINT = 'A delivered notification is not sent again; replay it as a new row.';
END $function$;

CREATE OR REPLACE FUNCTION owed.register_shipment(p_id text, p_merchant_id text, p_merchant_name text, p_tracking_number text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
  ON CONFLICT (id) DO UPDATE SET tracking_number = excluded.tracking_number, merchant_id = excluded.merchant_id;
END $function$;

CREATE OR REPLACE FUNCTION owed.subscribe(p_shipment_id text, p_recipient_id text, p_role text, p_channel text, p_address text, p_name text DEFAULT NULL::text, p_locale text DEFAULT 'en'::text)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION owed.time_to_drain(c owed.channel, due bigint, in_queue bigint)
 RETURNS double precision
 LANGUAGE sql
 STABLE
AS $function$
  SELECT CASE
    WHEN due = 0 AND (c.rate IS NULL OR in_queue = 0) THEN 0
    WHEN c.closed_until > now() AND NOT isfinite(c.closed_until) THEN NULL
    ELSE CASE WHEN c.closed_until > now() THEN extract(epoch FROM c.closed_until - now())::float8 ELSE 0 END
      + CASE WHEN c.rate IS NOT NULL THEN (due + in_queue) / c.rate
        ELSE due / (
          SELECT sum(published) / nullif(sum(extract(epoch FROM finished_at - started_at)), 0)::float8
          FROM (SELECT * FROM owed.sweep_run WHERE published > 0 ORDER BY id DESC LIMIT 10) AS last_runs) END
    END
$function$;

CREATE OR REPLACE FUNCTION owed.try_record_event(p_id text, p_shipment_id text, p_status text, p_occurred_at timestamp with time zone)
 RETURNS TABLE(outcome text, field text, reason text, notifications integer)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  -- An event that came before is repeated as ever.
  IF (SELECT count(*) FROM (SELECT FROM owed.event e WHERE e.shipment_id = p_shipment_id LIMIT 100) AS had) = 100
    AND NOT EXISTS (SELECT FROM owed.event e WHERE e.id = p_id)
  THEN
    RETURN QUERY SELECT 'refused', 'status', 'is the shipment''s 101st, more than a shipment has', 0;
  ELSE
    RETURN QUERY SELECT * FROM owed.record_and_fan_out(p_id, p_shipment_id, p_status, p_occurred_at);
  END IF;
END $function$;

CREATE TRIGGER the_end_is_final AFTER UPDATE ON owed.notification FOR EACH ROW WHEN ((old.state = ANY (ARRAY['delivered'::text, 'cancelled'::text])) AND (new.state <> old.state OR new.delivered_at IS DISTINCT FROM old.delivered_at)) EXECUTE FUNCTION owed.refuse_to_leave_the_end();

CREATE TRIGGER not_a_crowd BEFORE INSERT ON owed.subscriber FOR EACH ROW EXECUTE FUNCTION owed.refuse_crowd();

COMMENT ON COLUMN owed.channel.closed_until IS 'nothing is leased or sent before; when it has passed, a few rows probe the provider';
COMMENT ON COLUMN owed.channel.evidence_late_at IS 'when the provider''s events were last seen to come late: resends wait';
COMMENT ON COLUMN owed.channel.failures IS 'provider calls that failed one after the other, without an answer that says it works';
COMMENT ON COLUMN owed.channel.openings IS 'how often the breaker has opened since the provider last worked: each time for longer';
COMMENT ON COLUMN owed.channel.quota IS 'messages in 24 hours; null: no limit is known';
COMMENT ON COLUMN owed.channel.rate IS 'messages a second that the provider takes; null: no limit is known';
COMMENT ON COLUMN owed.channel.used IS 'of the quota, when the limits were read';
COMMENT ON COLUMN owed.heartbeat.queue_empty_since IS 'since when consecutive sweeps saw the notification queue report itself empty';
COMMENT ON COLUMN owed.heartbeat.restored_at IS 'when an operator said last that the ledger was put back from a backup';
COMMENT ON COLUMN owed.notification.attempts IS 'provider calls started';
COMMENT ON COLUMN owed.notification.evidence IS 'what says that the provider accepted: its reply, its own event, or an operator';
COMMENT ON COLUMN owed.notification.generation IS 'plus one at each deliberate re-publish: part of the deduplication id';
COMMENT ON COLUMN owed.notification.lease_token IS 'plus one at each lease and claim: fences every later write';
COMMENT ON COLUMN owed.notification.message_id IS 'the SQS message that claimed it last';
COMMENT ON COLUMN owed.notification.owed_at IS 'when somebody must look again; null when nobody must';
COMMENT ON COLUMN owed.notification.replays IS 'the delivered notification that an operator sent once more as this one';
COMMENT ON COLUMN owed.notification.stopped_at IS 'since when it waits for a person';
COMMENT ON COLUMN owed.refused_event.body_bytes IS 'size of the whole body; the first 64 KiB are kept';
COMMENT ON COLUMN owed.rule.delay_s IS 'seconds after the event occurred; 0 is at once';
COMMENT ON COLUMN owed.rule.newest_replaces IS 'not sent once a newer status was delivered to the same recipient on the same channel';
COMMENT ON COLUMN owed.rule.only_while_current IS 'sent only while the shipment is still in this status';
COMMENT ON COLUMN owed.rule.send_within_s IS 'seconds after the event occurred from which it is too late to send; null: never too late';
COMMENT ON FUNCTION owed.record_event(id text, shipment_id text, status text, occurred_at timestamp with time zone) IS 'records an event and its notifications in the caller''s transaction; returns how many are new; raises OW001 when refused';

GRANT EXECUTE ON FUNCTION owed.address_key(address text) TO owed_deliver;
GRANT EXECUTE ON FUNCTION owed.address_key(address text) TO owed_feedback;
GRANT EXECUTE ON FUNCTION owed.address_key(address text) TO owed_operator;
GRANT EXECUTE ON FUNCTION owed.address_key(address text) TO owed_reader;
GRANT EXECUTE ON FUNCTION owed.address_key(address text) TO owed_sweep;
GRANT EXECUTE ON FUNCTION owed.load(lost_after double precision) TO owed_operator;
GRANT EXECUTE ON FUNCTION owed.load(lost_after double precision) TO owed_reader;
GRANT EXECUTE ON FUNCTION owed.load(lost_after double precision) TO owed_sweep;
GRANT EXECUTE ON FUNCTION owed.notification_id(event_key uuid, ordinal bigint) TO owed_deliver;
GRANT EXECUTE ON FUNCTION owed.notification_id(event_key uuid, ordinal bigint) TO owed_operator;
GRANT EXECUTE ON FUNCTION owed.notification_id(event_key uuid, ordinal bigint) TO owed_reader;
GRANT EXECUTE ON FUNCTION owed.notification_id(event_key uuid, ordinal bigint) TO owed_sweep;
GRANT EXECUTE ON FUNCTION owed.opt_out(p_shipment_id text, p_recipient_id text, p_channel text) TO owed_platform;
GRANT EXECUTE ON FUNCTION owed.rank(outcome text) TO owed_deliver;
GRANT EXECUTE ON FUNCTION owed.rank(outcome text) TO owed_feedback;
GRANT EXECUTE ON FUNCTION owed.record_event(id text, shipment_id text, status text, occurred_at timestamp with time zone) TO owed_platform;
GRANT EXECUTE ON FUNCTION owed.register_shipment(p_id text, p_merchant_id text, p_merchant_name text, p_tracking_number text) TO owed_platform;
GRANT EXECUTE ON FUNCTION owed.subscribe(p_shipment_id text, p_recipient_id text, p_role text, p_channel text, p_address text, p_name text, p_locale text) TO owed_platform;
GRANT EXECUTE ON FUNCTION owed.time_to_drain(c owed.channel, due bigint, in_queue bigint) TO owed_operator;
GRANT EXECUTE ON FUNCTION owed.time_to_drain(c owed.channel, due bigint, in_queue bigint) TO owed_reader;
GRANT EXECUTE ON FUNCTION owed.time_to_drain(c owed.channel, due bigint, in_queue bigint) TO owed_sweep;
GRANT EXECUTE ON FUNCTION owed.try_record_event(p_id text, p_shipment_id text, p_status text, p_occurred_at timestamp with time zone) TO owed_ingest;
GRANT EXECUTE ON FUNCTION owed.try_record_event(p_id text, p_shipment_id text, p_status text, p_occurred_at timestamp with time zone) TO owed_operator;
GRANT USAGE ON SCHEMA owed TO owed_deliver;
GRANT USAGE ON SCHEMA owed TO owed_feedback;
GRANT USAGE ON SCHEMA owed TO owed_ingest;
GRANT USAGE ON SCHEMA owed TO owed_operator;
GRANT USAGE ON SCHEMA owed TO owed_platform;
GRANT USAGE ON SCHEMA owed TO owed_reader;
GRANT USAGE ON SCHEMA owed TO owed_sweep;
GRANT INSERT (notification_id, kind, generation, message_id, provider_message_id, actor, reason), SELECT (notification_id, kind, provider_message_id) ON owed.attempt TO owed_deliver;
GRANT INSERT (notification_id, kind, generation, provider_message_id, reason), SELECT (notification_id, kind, provider_message_id) ON owed.attempt TO owed_feedback;
GRANT INSERT (notification_id, at, kind, generation, actor, reason), SELECT ON owed.attempt TO owed_operator;
GRANT SELECT ON owed.attempt TO owed_reader;
GRANT INSERT (notification_id, kind, generation, reason) ON owed.attempt TO owed_sweep;
GRANT SELECT, UPDATE (failures, openings, closed_at, closed_until, closed_for, closed_why, evidence_late_at) ON owed.channel TO owed_deliver;
GRANT SELECT (name, evidence_late_at), UPDATE (evidence_late_at) ON owed.channel TO owed_feedback;
GRANT SELECT, UPDATE (rate, quota, used, limits_read_at, failures, openings, closed_at, closed_until, closed_for, closed_why) ON owed.channel TO owed_operator;
GRANT SELECT ON owed.channel TO owed_reader;
GRANT SELECT, UPDATE (rate, quota, used, limits_read_at, closed_at, closed_until, closed_for, closed_why) ON owed.channel TO owed_sweep;
GRANT INSERT ON owed.claim_mark TO owed_deliver;
GRANT SELECT ON owed.claim_mark TO owed_operator;
GRANT SELECT ON owed.claim_mark TO owed_sweep;
GRANT SELECT (key, shipment_id, status, occurred_at) ON owed.event TO owed_deliver;
GRANT SELECT ON owed.event TO owed_operator;
GRANT SELECT ON owed.event TO owed_reader;
GRANT SELECT (key, id, shipment_id, occurred_at) ON owed.event TO owed_sweep;
GRANT SELECT (restored_at) ON owed.heartbeat TO owed_deliver;
GRANT SELECT, UPDATE (holder, held_until, paused_at, paused_by, paused_why, queue_empty_since, beat_at, beating_since, restored_at) ON owed.heartbeat TO owed_operator;
GRANT SELECT ON owed.heartbeat TO owed_reader;
GRANT SELECT, UPDATE (holder, held_until, queue_empty_since, beat_at, beating_since) ON owed.heartbeat TO owed_sweep;
GRANT SELECT ON owed.merchant TO owed_deliver;
GRANT SELECT ON owed.merchant TO owed_reader;
GRANT SELECT ON owed.moot TO owed_deliver;
GRANT SELECT ON owed.moot TO owed_operator;
GRANT SELECT ON owed.moot TO owed_reader;
GRANT SELECT ON owed.moot TO owed_sweep;
GRANT SELECT (id, event_key, due_at, subscriber_id, rule_id, channel, message_id, sent_to, leased_until, queued_at, claimed_at, died_at, stopped_at, cancelled_at, lease_token, generation, attempts, owed_at, delivered_at, state, outcome, provider, provider_message_id, evidence, reason), UPDATE (message_id, sent_to, leased_until, queued_at, claimed_at, died_at, stopped_at, cancelled_at, lease_token, generation, attempts, owed_at, delivered_at, state, outcome, provider, provider_message_id, evidence, reason) ON owed.notification TO owed_deliver;
GRANT SELECT (id, subscriber_id, channel, sent_to, cancelled_at, lease_token, generation, delivered_at, state, outcome, provider, provider_message_id, evidence, reason), UPDATE (died_at, stopped_at, cancelled_at, lease_token, owed_at, delivered_at, state, outcome, provider, provider_message_id, evidence, reason) ON owed.notification TO owed_feedback;
GRANT INSERT (id, event_key, due_at, replays, subscriber_id, rule_id, channel, owed_at), SELECT, UPDATE (leased_until, queued_at, died_at, stopped_at, cancelled_at, lease_token, generation, rescues, resends, owed_at, delivered_at, state, outcome, evidence, reason) ON owed.notification TO owed_operator;
GRANT SELECT ON owed.notification TO owed_reader;
GRANT SELECT (id, event_key, due_at, subscriber_id, rule_id, channel, leased_until, queued_at, lease_token, generation, rescues, resends, owed_at, state, reason), UPDATE (leased_until, queued_at, stopped_at, cancelled_at, lease_token, generation, rescues, resends, owed_at, state, reason) ON owed.notification TO owed_sweep;
GRANT INSERT (message_id, field, reason, body, body_bytes, queue), SELECT (message_id) ON owed.refused_event TO owed_feedback;
GRANT INSERT (message_id, field, reason, body, body_bytes, queue), SELECT (message_id) ON owed.refused_event TO owed_ingest;
GRANT SELECT, UPDATE (retried_at, retried_by) ON owed.refused_event TO owed_operator;
GRANT SELECT ON owed.refused_event TO owed_reader;
GRANT SELECT (id, template) ON owed.rule TO owed_deliver;
GRANT SELECT ON owed.rule TO owed_operator;
GRANT SELECT ON owed.rule TO owed_reader;
GRANT SELECT (id, newest_replaces, on_unknown) ON owed.rule TO owed_sweep;
GRANT SELECT (id, merchant_id, tracking_number) ON owed.shipment TO owed_deliver;
GRANT SELECT ON owed.shipment TO owed_reader;
GRANT SELECT ON owed.status TO owed_reader;
GRANT SELECT (id, role, address, name, locale) ON owed.subscriber TO owed_deliver;
GRANT SELECT (id, address) ON owed.subscriber TO owed_feedback;
GRANT SELECT (id, recipient_id, role) ON owed.subscriber TO owed_operator;
GRANT SELECT (id, shipment_id, recipient_id, role, channel, locale, opted_out_at, created_at) ON owed.subscriber TO owed_reader;
GRANT INSERT (channel, address, cause, detail, notification_id), SELECT (channel, address, notification_id, lifted_at) ON owed.suppression TO owed_deliver;
GRANT INSERT (channel, address, cause, detail, notification_id), SELECT (channel, address, notification_id, lifted_at) ON owed.suppression TO owed_feedback;
GRANT SELECT, UPDATE (lifted_at, lifted_by, lifted_why) ON owed.suppression TO owed_operator;
GRANT SELECT ON owed.suppression TO owed_reader;
GRANT INSERT (started_at), SELECT, UPDATE (finished_at, leased, published, failed, cancelled, rescued, unknown, resent, owed, oldest_owed_s, time_to_drain_s) ON owed.sweep_run TO owed_operator;
GRANT SELECT ON owed.sweep_run TO owed_reader;
GRANT INSERT (started_at), SELECT, UPDATE (finished_at, leased, published, failed, cancelled, rescued, unknown, resent, owed, oldest_owed_s, time_to_drain_s) ON owed.sweep_run TO owed_sweep;
