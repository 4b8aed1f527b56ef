-- What the migrations make: written by 'npm run schema', never by hand.

CREATE SCHEMA owed;

CREATE TABLE owed.act (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  at timestamp with time zone DEFAULT now() NOT NULL,
  actor text NOT NULL,
  did text NOT NULL,
  subject text NOT NULL,
  why text,
  CONSTRAINT act_did_check CHECK (did = ANY (ARRAY['paused'::text, 'resumed'::text, 'closed'::text, 'opened'::text, 'redrove'::text, 'gave_back'::text])),
  CONSTRAINT act_pkey PRIMARY KEY (id)
);

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
  CONSTRAINT attempt_pkey PRIMARY KEY (id)
);

CREATE UNIQUE INDEX attempt_duplicate_once ON owed.attempt USING btree (notification_id, provider_message_id) WHERE (kind = 'duplicate'::text);

CREATE INDEX attempt_message ON owed.attempt USING btree (provider_message_id) WHERE (provider_message_id IS NOT NULL);

CREATE INDEX attempt_notification ON owed.attempt USING btree (notification_id);

CREATE TABLE owed.backfill (
  digest text NOT NULL,
  name text NOT NULL,
  mode text NOT NULL,
  actor text NOT NULL,
  started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  finished_at timestamp with time zone,
  records bigint DEFAULT 0 NOT NULL,
  added bigint DEFAULT 0 NOT NULL,
  repeated bigint DEFAULT 0 NOT NULL,
  refused bigint DEFAULT 0 NOT NULL,
  CONSTRAINT backfill_digest_check CHECK (digest ~ '^[0-9a-f]{64}$'::text),
  CONSTRAINT backfill_mode_check CHECK (mode = ANY (ARRAY['old'::text, 'shadow'::text])),
  CONSTRAINT backfill_pkey PRIMARY KEY (digest)
);

CREATE TABLE owed.backfill_refusal (
  digest text NOT NULL,
  line bigint NOT NULL,
  timer_id text,
  field text NOT NULL,
  reason text NOT NULL,
  CONSTRAINT backfill_refusal_digest_fkey FOREIGN KEY (digest) REFERENCES owed.backfill(digest),
  CONSTRAINT backfill_refusal_pkey PRIMARY KEY (digest, line)
);

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
  provider_tells boolean DEFAULT true NOT NULL,
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

CREATE TABLE owed.cutover (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  merchant_id text,
  was text NOT NULL,
  became text NOT NULL,
  actor text NOT NULL,
  why text NOT NULL,
  CONSTRAINT cutover_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES owed.merchant(id),
  CONSTRAINT cutover_pkey PRIMARY KEY (id)
);

CREATE TABLE owed.erasure (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  erased_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  erased_by text NOT NULL,
  why text NOT NULL,
  subscribers integer NOT NULL,
  notifications integer NOT NULL,
  cancelled integer NOT NULL,
  suppressions integer NOT NULL,
  refused_events integer NOT NULL,
  texts integer NOT NULL,
  former_addresses integer DEFAULT 0 NOT NULL,
  CONSTRAINT erasure_pkey PRIMARY KEY (id)
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

CREATE TABLE owed.former_address (
  subscriber_id bigint NOT NULL,
  address text NOT NULL,
  CONSTRAINT former_address_pkey PRIMARY KEY (subscriber_id, address),
  CONSTRAINT former_address_subscriber_id_fkey FOREIGN KEY (subscriber_id) REFERENCES owed.subscriber(id) ON DELETE CASCADE
);

CREATE INDEX former_address_found ON owed.former_address USING btree (translate(lower(btrim(address)), ' ()./-'::text, ''::text), subscriber_id);

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
  tracking_url text,
  time_zone text,
  mode text DEFAULT 'owed'::text NOT NULL,
  CONSTRAINT merchant_id_check CHECK (id ~ '^[A-Za-z0-9._:-]{1,64}$'::text),
  CONSTRAINT merchant_mode_check CHECK (mode = ANY (ARRAY['old'::text, 'shadow'::text, 'owed'::text])),
  CONSTRAINT merchant_name_check CHECK (name !~ '[[:cntrl:]]'::text AND length(name) >= 1 AND length(name) <= 200),
  CONSTRAINT merchant_pkey PRIMARY KEY (id),
  CONSTRAINT merchant_time_zone_check CHECK (time_zone ~ '^(UTC|[A-Za-z]+(/[A-Za-z0-9_+-]+){1,2})$'::text),
  CONSTRAINT merchant_tracking_url_check CHECK (tracking_url ~ '^https://[^[:space:][:cntrl:]]+$'::text AND length(tracking_url) <= 408)
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
  cancelled_by text,
  mode text,
  shadow_published_at timestamp with time zone,
  shadow_moot text,
  old_claimed_at timestamp with time zone,
  CONSTRAINT cancelled_at_a_time CHECK ((state = 'cancelled'::text) = (cancelled_at IS NOT NULL)),
  CONSTRAINT delivered_on_evidence CHECK ((state = 'delivered'::text) = (evidence IS NOT NULL)),
  CONSTRAINT delivered_once CHECK ((state = 'delivered'::text) = (delivered_at IS NOT NULL)),
  CONSTRAINT died_is_dead CHECK (died_at IS NULL OR state = 'dead'::text),
  CONSTRAINT end_has_a_reason CHECK ((state <> ALL (ARRAY['dead'::text, 'cancelled'::text])) OR reason IS NOT NULL),
  CONSTRAINT held_for_the_old_sender CHECK (
CASE
    WHEN state = ANY (ARRAY['delivered'::text, 'dead'::text, 'cancelled'::text]) THEN true
    WHEN mode IS NULL THEN owed_at IS NULL OR owed_at < 'infinity'::timestamp with time zone
    ELSE state = 'pending'::text AND owed_at = 'infinity'::timestamp with time zone
END) NOT VALID,
  CONSTRAINT leased_has_an_end CHECK ((state <> ALL (ARRAY['leased'::text, 'sending'::text])) OR leased_until IS NOT NULL),
  CONSTRAINT notification_attempts_check CHECK (attempts >= 0),
  CONSTRAINT notification_channel_fkey FOREIGN KEY (channel) REFERENCES owed.channel(name),
  CONSTRAINT notification_event_key_fkey FOREIGN KEY (event_key) REFERENCES owed.event(key),
  CONSTRAINT notification_evidence_check CHECK (evidence = ANY (ARRAY['reply'::text, 'feedback'::text, 'operator'::text, 'old_sender'::text])) NOT VALID,
  CONSTRAINT notification_generation_check CHECK (generation >= 0),
  CONSTRAINT notification_mode_check CHECK (mode = ANY (ARRAY['old'::text, 'shadow'::text])),
  CONSTRAINT notification_outcome_check CHECK (outcome = ANY (ARRAY['none'::text, 'accepted'::text, 'arrived'::text, 'bounced'::text, 'complained'::text])),
  CONSTRAINT notification_pkey PRIMARY KEY (id),
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
  fillfactor=45
);

CREATE INDEX notification_due ON owed.notification USING brin (due_at timestamptz_minmax_multi_ops) WITH (autosummarize='on');

CREATE INDEX notification_held ON owed.notification USING btree (due_at, id) WHERE (owed_at = 'infinity'::timestamp with time zone);

CREATE INDEX notification_message ON owed.notification USING btree (provider_message_id) WHERE (provider_message_id IS NOT NULL);

CREATE INDEX notification_owed ON owed.notification USING btree (owed_at) WHERE (owed_at IS NOT NULL);

CREATE INDEX notification_shadow_due ON owed.notification USING btree (due_at) WHERE ((mode = 'shadow'::text) AND (shadow_published_at IS NULL) AND (shadow_moot IS NULL));

CREATE INDEX notification_shadowed ON owed.notification USING btree (due_at) WHERE ((shadow_published_at IS NOT NULL) OR (shadow_moot IS NOT NULL));

CREATE INDEX notification_stopped ON owed.notification USING btree (stopped_at) WHERE (stopped_at IS NOT NULL);

CREATE TABLE owed.notification_archive (
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
  cancelled_by text,
  mode text,
  shadow_published_at timestamp with time zone,
  shadow_moot text,
  old_claimed_at timestamp with time zone,
  CONSTRAINT cancelled_at_a_time CHECK ((state = 'cancelled'::text) = (cancelled_at IS NOT NULL)),
  CONSTRAINT delivered_on_evidence CHECK ((state = 'delivered'::text) = (evidence IS NOT NULL)),
  CONSTRAINT delivered_once CHECK ((state = 'delivered'::text) = (delivered_at IS NOT NULL)),
  CONSTRAINT died_is_dead CHECK (died_at IS NULL OR state = 'dead'::text),
  CONSTRAINT end_has_a_reason CHECK ((state <> ALL (ARRAY['dead'::text, 'cancelled'::text])) OR reason IS NOT NULL),
  CONSTRAINT held_for_the_old_sender CHECK (
CASE
    WHEN state = ANY (ARRAY['delivered'::text, 'dead'::text, 'cancelled'::text]) THEN true
    WHEN mode IS NULL THEN owed_at IS NULL OR owed_at < 'infinity'::timestamp with time zone
    ELSE state = 'pending'::text AND owed_at = 'infinity'::timestamp with time zone
END),
  CONSTRAINT leased_has_an_end CHECK ((state <> ALL (ARRAY['leased'::text, 'sending'::text])) OR leased_until IS NOT NULL),
  CONSTRAINT notification_archive_pkey PRIMARY KEY (id),
  CONSTRAINT notification_attempts_check CHECK (attempts >= 0),
  CONSTRAINT notification_evidence_check CHECK (evidence = ANY (ARRAY['reply'::text, 'feedback'::text, 'operator'::text, 'old_sender'::text])),
  CONSTRAINT notification_generation_check CHECK (generation >= 0),
  CONSTRAINT notification_mode_check CHECK (mode = ANY (ARRAY['old'::text, 'shadow'::text])),
  CONSTRAINT notification_outcome_check CHECK (outcome = ANY (ARRAY['none'::text, 'accepted'::text, 'arrived'::text, 'bounced'::text, 'complained'::text])),
  CONSTRAINT notification_rescues_check CHECK (rescues >= 0 AND rescues <= 3),
  CONSTRAINT notification_resends_check CHECK (resends >= 0 AND resends <= 3),
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
);

CREATE INDEX notification_archive_due ON owed.notification_archive USING brin (due_at timestamptz_minmax_multi_ops) WITH (autosummarize='on');

CREATE INDEX notification_archive_message ON owed.notification_archive USING brin (provider_message_id text_bloom_ops (n_distinct_per_range='1000', false_positive_rate='0.001')) WITH (pages_per_range='32', autosummarize='on');

CREATE TABLE owed.old_send (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  merchant_id text NOT NULL,
  event_id text NOT NULL,
  recipient_id text NOT NULL,
  channel text NOT NULL,
  template text NOT NULL,
  notification_id uuid,
  claimed_at timestamp with time zone,
  sent_at timestamp with time zone,
  provider text,
  provider_message_id text,
  recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT old_send_check CHECK (sent_at IS NOT NULL OR claimed_at IS NOT NULL),
  CONSTRAINT old_send_check1 CHECK (GREATEST(length(merchant_id), length(event_id), length(recipient_id), length(channel), length(template), length(provider), length(provider_message_id)) <= 256),
  CONSTRAINT old_send_pkey PRIMARY KEY (id)
);

CREATE INDEX old_send_message ON owed.old_send USING btree (provider_message_id) WHERE (provider_message_id IS NOT NULL);

CREATE UNIQUE INDEX old_send_once ON owed.old_send USING btree (event_id, recipient_id, channel, template, sent_at, provider_message_id) NULLS NOT DISTINCT;

CREATE INDEX old_send_sent ON owed.old_send USING btree (sent_at);

CREATE INDEX old_send_without_row ON owed.old_send USING btree (merchant_id) WHERE (notification_id IS NULL);

CREATE TABLE owed.pause (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  paused_at timestamp with time zone NOT NULL,
  paused_by text NOT NULL,
  paused_why text,
  resumed_at timestamp with time zone,
  CONSTRAINT pause_pkey PRIMARY KEY (id)
);

CREATE INDEX pause_open ON owed.pause USING btree (id) WHERE (resumed_at IS NULL);

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

CREATE TABLE owed.retention (
  one boolean DEFAULT true NOT NULL,
  passed uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL,
  round_since timestamp with time zone DEFAULT now() NOT NULL,
  next_at timestamp with time zone DEFAULT (now() + '01:00:00'::interval) NOT NULL,
  CONSTRAINT retention_one_check CHECK (one),
  CONSTRAINT retention_pkey PRIMARY KEY (one)
);

CREATE TABLE owed.rollout (
  one boolean DEFAULT true NOT NULL,
  new_merchants text DEFAULT 'owed'::text NOT NULL,
  CONSTRAINT rollout_new_merchants_check CHECK (new_merchants = ANY (ARRAY['old'::text, 'shadow'::text, 'owed'::text])),
  CONSTRAINT rollout_one_check CHECK (one),
  CONSTRAINT rollout_pkey PRIMARY KEY (one)
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
  at_time time without time zone,
  silent boolean DEFAULT false NOT NULL,
  version integer DEFAULT 1 NOT NULL,
  replaces bigint,
  set_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  set_by text DEFAULT 'owed'::text NOT NULL,
  set_why text DEFAULT 'the default rules'::text NOT NULL,
  retired_at timestamp with time zone,
  retired_by text,
  retired_why text,
  CONSTRAINT rule_at_time_check CHECK (at_time < '24:00:00'::time without time zone),
  CONSTRAINT rule_channel_fkey FOREIGN KEY (channel) REFERENCES owed.channel(name),
  CONSTRAINT rule_check CHECK (send_within_s > delay_s),
  CONSTRAINT rule_check1 CHECK (active OR retired_at IS NOT NULL) NOT VALID,
  CONSTRAINT rule_delay_s_check CHECK (delay_s >= 0 AND delay_s <= (366 * 86400)),
  CONSTRAINT rule_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES owed.merchant(id),
  CONSTRAINT rule_on_unknown_check CHECK (on_unknown = ANY (ARRAY['resend'::text, 'hold'::text])),
  CONSTRAINT rule_pkey PRIMARY KEY (id),
  CONSTRAINT rule_replaces_fkey FOREIGN KEY (replaces) REFERENCES owed.rule(id),
  CONSTRAINT rule_role_check CHECK (role = ANY (ARRAY['buyer'::text, 'merchant'::text, 'agent'::text, 'warehouse'::text])),
  CONSTRAINT rule_status_fkey FOREIGN KEY (status) REFERENCES owed.status(name),
  CONSTRAINT rule_template_check CHECK (template ~ '^[a-z][a-z_.]{0,59}$'::text),
  CONSTRAINT rule_version_check CHECK (version > 0)
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

CREATE INDEX shipment_merchant ON owed.shipment USING btree (merchant_id, id);

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
  time_zone text,
  erased_at timestamp with time zone,
  recipient_digest text,
  CONSTRAINT subscriber_address_check CHECK (address !~ '[[:cntrl:]]'::text AND length(address) <= 320),
  CONSTRAINT subscriber_channel_fkey FOREIGN KEY (channel) REFERENCES owed.channel(name),
  CONSTRAINT subscriber_locale_check CHECK (locale ~ '^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$'::text),
  CONSTRAINT subscriber_name_check CHECK (name !~ '[[:cntrl:]]'::text AND length(name) <= 200),
  CONSTRAINT subscriber_pkey PRIMARY KEY (id),
  CONSTRAINT subscriber_recipient_id_check CHECK (recipient_id ~ '^[A-Za-z0-9._:@-]{1,64}$'::text),
  CONSTRAINT subscriber_role_check CHECK (role = ANY (ARRAY['buyer'::text, 'merchant'::text, 'agent'::text, 'warehouse'::text])),
  CONSTRAINT subscriber_shipment_id_fkey FOREIGN KEY (shipment_id) REFERENCES owed.shipment(id),
  CONSTRAINT subscriber_shipment_id_recipient_id_channel_key UNIQUE (shipment_id, recipient_id, channel),
  CONSTRAINT subscriber_time_zone_check CHECK (time_zone ~ '^(UTC|[A-Za-z]+(/[A-Za-z0-9_+-]+){1,2})$'::text)
);

CREATE INDEX subscriber_address ON owed.subscriber USING btree (translate(lower(btrim(address)), ' ()./-'::text, ''::text), id) WHERE (address IS NOT NULL);

CREATE INDEX subscriber_erased ON owed.subscriber USING btree (recipient_digest, id) WHERE (recipient_digest IS NOT NULL);

CREATE INDEX subscriber_recipient ON owed.subscriber USING btree (recipient_id, id);

CREATE TABLE owed.suppression (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  channel text NOT NULL,
  address text NOT NULL,
  cause text NOT NULL,
  detail text,
  notification_id uuid,
  suppressed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  lifted_at timestamp with time zone,
  lifted_by text,
  lifted_why text,
  CONSTRAINT suppression_cause_check CHECK (cause = ANY (ARRAY['bounced'::text, 'complained'::text, 'opted_out'::text])),
  CONSTRAINT suppression_channel_fkey FOREIGN KEY (channel) REFERENCES owed.channel(name),
  CONSTRAINT suppression_check CHECK ((lifted_at IS NULL) = (lifted_by IS NULL) AND (lifted_at IS NULL) = (lifted_why IS NULL)),
  CONSTRAINT suppression_check1 CHECK (cause = 'opted_out'::text OR notification_id IS NOT NULL),
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
 SELECT id,
    reason,
    by
   FROM owed.telling;

CREATE VIEW owed.notification_ever AS
 SELECT notification.id,
    notification.event_key,
    notification.due_at,
    notification.send_by,
    notification.replays,
    notification.subscriber_id,
    notification.rule_id,
    notification.channel,
    notification.message_id,
    notification.sent_to,
    notification.leased_until,
    notification.queued_at,
    notification.claimed_at,
    notification.died_at,
    notification.stopped_at,
    notification.cancelled_at,
    notification.lease_token,
    notification.generation,
    notification.attempts,
    notification.rescues,
    notification.resends,
    notification.owed_at,
    notification.delivered_at,
    notification.state,
    notification.outcome,
    notification.provider,
    notification.provider_message_id,
    notification.evidence,
    notification.reason,
    notification.cancelled_by,
    notification.mode,
    notification.shadow_published_at,
    notification.shadow_moot,
    notification.old_claimed_at
   FROM owed.notification
UNION ALL
 SELECT notification_archive.id,
    notification_archive.event_key,
    notification_archive.due_at,
    notification_archive.send_by,
    notification_archive.replays,
    notification_archive.subscriber_id,
    notification_archive.rule_id,
    notification_archive.channel,
    notification_archive.message_id,
    notification_archive.sent_to,
    notification_archive.leased_until,
    notification_archive.queued_at,
    notification_archive.claimed_at,
    notification_archive.died_at,
    notification_archive.stopped_at,
    notification_archive.cancelled_at,
    notification_archive.lease_token,
    notification_archive.generation,
    notification_archive.attempts,
    notification_archive.rescues,
    notification_archive.resends,
    notification_archive.owed_at,
    notification_archive.delivered_at,
    notification_archive.state,
    notification_archive.outcome,
    notification_archive.provider,
    notification_archive.provider_message_id,
    notification_archive.evidence,
    notification_archive.reason,
    notification_archive.cancelled_by,
    notification_archive.mode,
    notification_archive.shadow_published_at,
    notification_archive.shadow_moot,
    notification_archive.old_claimed_at
   FROM owed.notification_archive;

CREATE VIEW owed.telling AS
 SELECT n.id,
    split_part(judged.why, ' '::text, 1) AS reason,
    substr(judged.why, strpos(judged.why || ' '::text, ' '::text) + 1) AS by,
    n.leased_until,
    n.channel,
    r.template,
    s.role,
    s.address,
    s.name,
    s.locale,
    COALESCE(s.time_zone, m.time_zone) AS time_zone,
    e.shipment_id,
    sh.tracking_number,
    e.status,
    e.occurred_at,
    m.id AS merchant_id,
    m.name AS merchant_name,
    m.tracking_url
   FROM owed.notification n
     JOIN owed.subscriber s ON s.id = n.subscriber_id
     CROSS JOIN LATERAL ( SELECT rule.template,
            rule.only_while_current,
            rule.newest_replaces
           FROM owed.rule
          WHERE rule.id = n.rule_id
         OFFSET 0) r
     JOIN owed.event e ON e.key = n.event_key
     JOIN owed.shipment sh ON sh.id = e.shipment_id
     LEFT JOIN owed.merchant m ON m.id = sh.merchant_id
     CROSS JOIN LATERAL ( SELECT COALESCE(
                CASE
                    WHEN n.send_by <= now() THEN 'expired deadline'::text
                    WHEN s.erased_at IS NOT NULL THEN 'erased recipient'::text
                    WHEN s.opted_out_at IS NOT NULL THEN 'opted_out recipient'::text
                    ELSE NULL::text
                END, ( SELECT (
                        CASE x.cause
                            WHEN 'opted_out'::text THEN 'opted_out'::text
                            ELSE 'suppressed'::text
                        END || ' suppression '::text) || x.id
                   FROM owed.suppression x
                  WHERE x.channel = n.channel AND (x.address = ANY (owed.address_keys(s.address))) AND x.lifted_at IS NULL
                 LIMIT 1),
                CASE
                    WHEN n.replays IS NOT NULL THEN NULL::text
                    WHEN r.only_while_current AND sh.status <> e.status THEN 'superseded event '::text || sh.status_event_id
                    WHEN r.newest_replaces AND sh.status_event_id <> e.id THEN ( SELECT 'superseded event '::text || newer.id
                       FROM owed.event newer
                         CROSS JOIN LATERAL ( SELECT
                               FROM owed.notification told
                              WHERE told.id > newer.key AND told.id <= owed.notification_id(newer.key, 65535::bigint) AND told.subscriber_id = n.subscriber_id AND
                                    CASE told.state
WHEN 'delivered'::text THEN true
WHEN 'dead'::text THEN false
WHEN 'cancelled'::text THEN told.reason = ANY (ARRAY['expired'::text, 'superseded'::text])
ELSE told.due_at <= GREATEST(now(), newer.recorded_at)
                                    END
                             OFFSET 0) standing
                      WHERE newer.shipment_id = e.shipment_id AND ((ROW(newer.occurred_at, newer.id) > ROW(e.occurred_at, e.id)))
                      ORDER BY newer.occurred_at DESC, newer.id DESC
                     LIMIT 1)
                    ELSE NULL::text
                END) AS why
         OFFSET 0) judged;

CREATE OR REPLACE FUNCTION owed.address_digest(address text)
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  SELECT 'sha256:' || encode(sha256(convert_to(owed.address_key(address), 'UTF8')), 'hex')
$function$;

CREATE OR REPLACE FUNCTION owed.address_key(address text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  SELECT CASE WHEN strpos(address, '+') > 0 AND address ~ '^\s*\+[0-9 ()./-]+$' THEN regexp_replace(address, '[^+0-9]', '', 'g')
    ELSE lower(btrim(address)) END
$function$;

CREATE OR REPLACE FUNCTION owed.address_keys(address text)
 RETURNS text[]
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  SELECT ARRAY[owed.address_key(address), owed.address_digest(address)]
$function$;

CREATE OR REPLACE FUNCTION owed.addresses_of(p_people bigint[], p_rows uuid[], p_address text)
 RETURNS text[]
 LANGUAGE sql
 STABLE
AS $function$
  SELECT coalesce(array_agg(DISTINCT btrim(given.address)), '{}')
  FROM (
    SELECT p_address AS address
    UNION ALL SELECT s.address FROM owed.subscriber s WHERE s.id = ANY (p_people)
    UNION ALL SELECT f.address FROM owed.former_address f WHERE f.subscriber_id = ANY (p_people)
    UNION ALL SELECT n.sent_to FROM owed.notification_ever n WHERE n.id = ANY (p_rows)
  ) AS given WHERE btrim(given.address) <> ''
$function$;

CREATE OR REPLACE FUNCTION owed.backfill_timers(p_digest text, p_from bigint, p_to bigint, p_lines jsonb, p_refusals jsonb)
 RETURNS SETOF owed.backfill
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  v_backfill owed.backfill;
  v_good     jsonb;
  v_refusals jsonb;
  v_added    bigint;
BEGIN
  SELECT * INTO v_backfill FROM owed.backfill WHERE digest = p_digest FOR UPDATE;
  IF v_backfill.records <> p_from THEN
    RETURN NEXT v_backfill;
    RETURN;
  END IF;
  -- As in the platform's transactions: the shipments first, then what says who sends.
  PERFORM FROM owed.shipment sh
  WHERE sh.id IN (SELECT t.shipment_id FROM jsonb_to_recordset(p_lines) AS t (shipment_id text)) ORDER BY sh.id FOR NO KEY UPDATE;
  PERFORM owed.keep_mode(given.merchant_id)
  FROM (SELECT DISTINCT t.merchant_id FROM jsonb_to_recordset(p_lines) AS t (merchant_id text)) AS given;

  -- Of the good ones what was found out; what was given stays where it is.
  SELECT coalesce(jsonb_agg(jsonb_build_object('line', t.line, 'event_id', t.event_id, 'rule_id', t.rule_id, 'send_by', t.send_by))
      FILTER (WHERE t.field IS NULL), '[]'),
    p_refusals || coalesce(jsonb_agg(jsonb_build_object('line', t.line, 'timer_id', t.timer_id, 'field', t.field, 'reason', t.reason))
      FILTER (WHERE t.field IS NOT NULL), '[]')
  INTO v_good, v_refusals FROM owed.judge_timers(p_lines) AS t;

  INSERT INTO owed.merchant (id, name, mode)
  SELECT DISTINCT ON (t.merchant_id) t.merchant_id, t.merchant_name, v_backfill.mode
  FROM jsonb_to_recordset(p_lines) AS t (line bigint, merchant_id text, merchant_name text)
  JOIN jsonb_to_recordset(v_good) AS good (line bigint) USING (line)
  ORDER BY t.merchant_id, t.line
  ON CONFLICT (id) DO NOTHING;
  -- The platform's registration may have come meanwhile: all again, by what it says.
  IF EXISTS (SELECT FROM owed.merchant m
    WHERE m.mode = 'owed' AND m.id IN (
      SELECT t.merchant_id FROM jsonb_to_recordset(p_lines) AS t (line bigint, merchant_id text)
      JOIN jsonb_to_recordset(v_good) AS good (line bigint) USING (line)))
  THEN
    RAISE EXCEPTION 'a merchant was registered meanwhile' USING ERRCODE = 'serialization_failure';
  END IF;

  -- What the platform has said is newer than a timer.
  INSERT INTO owed.shipment (id, merchant_id, tracking_number, status, status_at, status_event_id)
  SELECT DISTINCT ON (t.shipment_id) t.shipment_id, t.merchant_id, t.tracking_number, t.status, t.occurred_at, good.event_id
  FROM jsonb_to_recordset(p_lines) AS t (line bigint, shipment_id text, merchant_id text, tracking_number text, status text,
    occurred_at timestamptz)
  JOIN jsonb_to_recordset(v_good) AS good (line bigint, event_id text) USING (line)
  ORDER BY t.shipment_id, t.occurred_at DESC, good.event_id DESC
  ON CONFLICT (id) DO NOTHING;
  INSERT INTO owed.subscriber (shipment_id, recipient_id, role, channel, address, name, locale, time_zone)
  SELECT DISTINCT ON (t.shipment_id, t.recipient_id, t.channel) t.shipment_id, t.recipient_id, t.role, t.channel, t.address, t.name,
    t.locale, t.time_zone
  FROM jsonb_to_recordset(p_lines) AS t (line bigint, shipment_id text, recipient_id text, role text, channel text, address text,
    name text, locale text, time_zone text)
  JOIN jsonb_to_recordset(v_good) AS good (line bigint) USING (line)
  WHERE NOT EXISTS (SELECT FROM owed.subscriber s
    WHERE (s.shipment_id, s.recipient_id, s.channel) = (t.shipment_id, t.recipient_id, t.channel))
  ORDER BY t.shipment_id, t.recipient_id, t.channel, t.line DESC;

  INSERT INTO owed.event (key, id, shipment_id, status, occurred_at, recorded_at)
  SELECT owed.new_event_key(), e.id, e.shipment_id, e.status, e.occurred_at, clock_timestamp()
  FROM (SELECT DISTINCT good.event_id AS id, t.shipment_id, t.status, t.occurred_at
    FROM jsonb_to_recordset(p_lines) AS t (line bigint, shipment_id text, status text, occurred_at timestamptz)
    JOIN jsonb_to_recordset(v_good) AS good (line bigint, event_id text) USING (line)) AS e
  ON CONFLICT (id) DO NOTHING;
  UPDATE owed.shipment sh SET status = newest.status, status_at = newest.occurred_at, status_event_id = newest.event_id
  FROM (
    SELECT DISTINCT ON (t.shipment_id) t.shipment_id, t.status, t.occurred_at, good.event_id
    FROM jsonb_to_recordset(p_lines) AS t (line bigint, shipment_id text, status text, occurred_at timestamptz)
    JOIN jsonb_to_recordset(v_good) AS good (line bigint, event_id text) USING (line)
    ORDER BY t.shipment_id, t.occurred_at DESC, good.event_id DESC) AS newest
  WHERE sh.id = newest.shipment_id
    AND (sh.status IS NULL OR (newest.occurred_at, newest.event_id) > (sh.status_at, sh.status_event_id));

  WITH given AS MATERIALIZED (
    SELECT t.*, good.event_id, good.rule_id, good.send_by
    FROM jsonb_to_recordset(p_lines) AS t (line bigint, merchant_id text, shipment_id text, recipient_id text, channel text,
      template text, due_at timestamptz)
    JOIN jsonb_to_recordset(v_good) AS good (line bigint, event_id text, rule_id bigint, send_by timestamptz) USING (line)
  ), told AS (
    SELECT DISTINCT ON (e.key, s.id, given.template) given.*, e.key, s.id AS subscriber_id, m.mode, had.taken
    FROM given
    -- OFFSET 0, here and below: one look into an index for each line, whatever the statistics say.
    CROSS JOIN LATERAL (SELECT heard.key FROM owed.event heard WHERE heard.id = given.event_id OFFSET 0) AS e
    CROSS JOIN LATERAL (
      SELECT watches.id FROM owed.subscriber watches
      WHERE (watches.shipment_id, watches.recipient_id, watches.channel) = (given.shipment_id, given.recipient_id, given.channel)
      OFFSET 0) AS s
    CROSS JOIN LATERAL (
      SELECT count(*) AS taken, count(*) FILTER (WHERE told.subscriber_id = s.id AND told.replays IS NULL AND r.template = given.template) AS same
      FROM owed.notification_ever told JOIN owed.rule r ON r.id = told.rule_id
      WHERE told.id > e.key AND told.id <= owed.notification_id(e.key, 65535)
      OFFSET 0) AS had
    JOIN owed.merchant m ON m.id = given.merchant_id
    WHERE had.same = 0
    ORDER BY e.key, s.id, given.template, given.line
  )
  INSERT INTO owed.notification (id, event_key, subscriber_id, rule_id, channel, due_at, send_by, owed_at, mode)
  SELECT owed.notification_id(told.key, told.taken + row_number() OVER (PARTITION BY told.key ORDER BY told.line)),
    told.key, told.subscriber_id, told.rule_id, told.channel, told.due_at, told.send_by, 'infinity', told.mode
  FROM told;
  GET DIAGNOSTICS v_added = ROW_COUNT;

  INSERT INTO owed.backfill_refusal (digest, line, timer_id, field, reason)
  SELECT p_digest, t.line, t.timer_id, t.field, t.reason
  FROM jsonb_to_recordset(v_refusals) AS t (line bigint, timer_id text, field text, reason text)
  ORDER BY t.line LIMIT greatest(0, 10000 - v_backfill.refused)
  ON CONFLICT DO NOTHING;
  RETURN QUERY
  UPDATE owed.backfill SET records = p_to, added = added + v_added,
    repeated = repeated + jsonb_array_length(v_good) - v_added, refused = refused + jsonb_array_length(v_refusals)
  WHERE digest = p_digest
  RETURNING *;
END $function$;

CREATE OR REPLACE FUNCTION owed.compared(p_merchant_id text, p_since timestamp with time zone, p_until timestamp with time zone)
 RETURNS TABLE(notification_id uuid, merchant_id text, shipment_id text, event_id text, recipient_id text, channel text, template text, due_at timestamp with time zone, would_at timestamp with time zone, moot text, owed_sent_at timestamp with time zone, old_claimed_at timestamp with time zone, old_sent_at timestamp with time zone, old_sends integer, heard boolean, verdict text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  WITH send AS MATERIALIZED (
    SELECT o.merchant_id, o.event_id, o.recipient_id, o.channel, o.template, min(o.sent_at) AS sent_at,
      coalesce((array_agg(o.notification_id) FILTER (WHERE o.notification_id IS NOT NULL))[1],
        owed.find_notification(o.event_id, o.recipient_id, o.channel, o.template)) AS notification_id
    FROM owed.old_send o
    WHERE o.sent_at >= p_since AND o.sent_at < p_until AND (p_merchant_id IS NULL OR o.merchant_id = p_merchant_id)
    GROUP BY o.merchant_id, o.event_id, o.recipient_id, o.channel, o.template
  ), chosen AS (
    SELECT n.id FROM owed.notification n
    WHERE (n.shadow_published_at IS NOT NULL OR n.shadow_moot IS NOT NULL) AND n.due_at >= p_since AND n.due_at < p_until
    UNION
    SELECT n.id FROM owed.notification n
    WHERE n.mode = 'shadow' AND n.shadow_published_at IS NULL AND n.shadow_moot IS NULL
      AND n.due_at >= p_since AND n.due_at < least(p_until, now())
    UNION
    SELECT n.id FROM send JOIN owed.notification n ON n.id = send.notification_id AND n.evidence IN ('reply', 'feedback')
  ), row AS (
    SELECT n.id, sh.merchant_id, sh.id AS shipment_id, e.id AS event_id, s.recipient_id, n.channel, r.template, n.due_at,
      n.shadow_published_at AS would_at, n.shadow_moot AS moot, n.old_claimed_at,
      CASE WHEN n.evidence IN ('reply', 'feedback') THEN n.delivered_at END AS owed_sent_at
    FROM chosen JOIN owed.notification n USING (id)
    JOIN owed.event e ON e.key = n.event_key
    JOIN owed.shipment sh ON sh.id = e.shipment_id AND (p_merchant_id IS NULL OR sh.merchant_id = p_merchant_id)
    JOIN owed.subscriber s ON s.id = n.subscriber_id
    JOIN owed.rule r ON r.id = n.rule_id
  ), beside AS (
    SELECT row.id, row.merchant_id, row.shipment_id, row.event_id, row.recipient_id, row.channel, row.template, row.due_at, row.would_at,
      row.moot, row.owed_sent_at, greatest(row.old_claimed_at, old.claimed_at) AS old_claimed_at, old.sent_at AS old_sent_at,
      old.sends AS old_sends, true AS heard
    FROM row CROSS JOIN LATERAL (
      SELECT min(o.sent_at) AS sent_at, count(o.sent_at)::int AS sends, max(o.claimed_at) AS claimed_at FROM owed.old_send o
      WHERE (o.event_id, o.recipient_id, o.channel, o.template) = (row.event_id, row.recipient_id, row.channel, row.template)) AS old
    UNION ALL
    SELECT NULL, send.merchant_id, e.shipment_id, send.event_id, send.recipient_id, send.channel, send.template, NULL, NULL, NULL, NULL,
      NULL, send.sent_at, 1, e.id IS NOT NULL
    FROM send LEFT JOIN owed.event e ON e.id = send.event_id
    WHERE send.notification_id IS NULL
  )
  SELECT id, merchant_id, shipment_id, event_id, recipient_id, channel, template, due_at, would_at, moot, owed_sent_at, old_claimed_at,
    old_sent_at, old_sends, heard,
    CASE
      WHEN old_sends > 1 OR (old_sends > 0 AND owed_sent_at IS NOT NULL) THEN 'twice'
      WHEN owed_sent_at IS NOT NULL THEN 'owed'
      WHEN id IS NULL THEN 'only_old'
      WHEN would_at IS NULL AND moot IS NULL THEN 'waiting'
      WHEN would_at IS NOT NULL AND old_sends = 1 THEN 'both'
      WHEN would_at IS NOT NULL THEN 'only_new'
      WHEN old_sends = 1 THEN 'only_old'
      ELSE 'neither'
    END
  FROM beside
$function$;

CREATE OR REPLACE FUNCTION owed.describe_merchant(p_id text, p_tracking_url text, p_time_zone text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION owed.due_at(occurred_at timestamp with time zone, delay_s integer, at_time time without time zone, time_zone text)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  SELECT CASE WHEN at_time IS NULL THEN owing.since ELSE (
      SELECT min(given.at) FROM (
        SELECT ((owing.since AT TIME ZONE time_zone)::date + days + at_time) AT TIME ZONE time_zone AS at
        FROM generate_series(0, 2) AS days) AS given
      WHERE given.at >= owing.since) END
  FROM (SELECT occurred_at + make_interval(secs => delay_s) AS since) AS owing
$function$;

CREATE OR REPLACE FUNCTION owed.erase(p_address text, p_channel text, p_shipment_id text, p_recipient_id text, p_by text, p_why text, p_dry_run boolean)
 RETURNS TABLE(id bigint, known boolean, subscribers integer, notifications integer, cancelled integer, suppressions integer, refused_events integer, texts integer, former_addresses integer)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_column
DECLARE
  v_shipments  text[] := ARRAY[p_shipment_id];
  v_people     bigint[];
  v_rows       uuid[];
  v_sent       uuid[] := '{}';
  v_had        bigint[];
  v_told       uuid[];
  v_attempts   bigint[] := '{}';
  v_hints      bigint[] := '{}';
  v_timers     text[] := '{}';
  v_suppressed bigint[];
  v_refused    bigint[] := '{}';
  v_addresses  text[];
  v_keys       text[];
  v_ids        text[];
  v_names      text[];
  v_specific   text[];
  v_bytes      text[];
  v_like       text[];
  v_own        text;
  v_all        text;
  v_more       integer;
BEGIN
  subscribers := 0; notifications := 0; cancelled := 0; suppressions := 0; refused_events := 0; texts := 0; former_addresses := 0;
  IF p_address IS NOT NULL THEN
    v_shipments := ARRAY(
      SELECT DISTINCT s.shipment_id FROM owed.subscriber s
      WHERE owed.same_address(s.address, p_address) AND coalesce(s.channel = p_channel, true));
    v_sent := ARRAY(SELECT n.id FROM owed.notification_ever n WHERE owed.same_address(n.sent_to, p_address));
    IF NOT owed.is_specific(p_address) AND v_shipments = '{}' AND v_sent = '{}' AND owed.had_address(p_address, p_channel) = '{}' THEN
      PERFORM owed.refuse('address', 'must be an email address, a telephone number of 7 digits or more, a URL that begins with '
        'https://, or exactly what a subscriber has');
    END IF;
  END IF;
  v_people := owed.people(v_shipments, p_address, p_channel, p_recipient_id);
  v_rows := owed.rows_of(v_people);
  v_addresses := owed.addresses_of(v_people, v_rows, p_address);

  -- What is not the person's own.
  v_specific := ARRAY(
    SELECT lower(word) FROM unnest(v_addresses || (
      SELECT array_agg(owed.address_key(address)) FROM unnest(v_addresses) AS address) || (
      SELECT array_agg(s.recipient_id) FROM owed.subscriber s WHERE s.id = ANY (v_people) AND strpos(s.recipient_id, '@') > 0)) AS word
    WHERE owed.is_specific(word) GROUP BY 1);
  v_all := owed.needles(v_specific);
  v_bytes := ARRAY(SELECT encode(convert_to(word, 'UTF8'), 'escape') FROM unnest(v_specific) AS word);
  v_like := ARRAY(SELECT '%' || regexp_replace(word, '([\\%_])', '\\\1', 'g') || '%' FROM unnest(v_bytes) AS word);
  IF v_specific <> '{}' THEN
    v_refused := ARRAY(
      SELECT r.id FROM owed.refused_event r
      WHERE octet_length(r.body) > 0 AND lower(encode(r.body, 'escape')) LIKE ANY (v_like)
        AND owed.without(encode(r.body, 'escape'), owed.needles(v_bytes)) <> encode(r.body, 'escape'));
  END IF;
  v_like := ARRAY(SELECT '%' || regexp_replace(word, '([\\%_])', '\\\1', 'g') || '%' FROM unnest(v_specific) AS word);
  IF p_address IS NOT NULL AND v_specific <> '{}' THEN
    v_attempts := ARRAY(
      SELECT a.id FROM owed.attempt a WHERE lower(a.reason) LIKE ANY (v_like) AND owed.without(a.reason, v_all) <> a.reason);
    v_hints := ARRAY(
      SELECT x.id FROM owed.suppression x
      WHERE lower(concat_ws(' ', x.detail, x.lifted_why)) LIKE ANY (v_like)
        AND owed.without(concat_ws(' ', x.detail, x.lifted_why), v_all) <> concat_ws(' ', x.detail, x.lifted_why));
    v_timers := ARRAY(
      SELECT DISTINCT b.timer_id FROM owed.backfill_refusal b
      WHERE lower(b.timer_id) LIKE ANY (v_like) AND owed.without(b.timer_id, v_all) <> b.timer_id);
  END IF;

  -- The shipments first, as everybody does: no event comes in between. Then again who and what it is now.
  PERFORM FROM owed.shipment sh WHERE sh.id = ANY (v_shipments) ORDER BY sh.id FOR NO KEY UPDATE;
  v_people := owed.people(v_shipments, p_address, p_channel, p_recipient_id);
  v_rows := owed.rows_of(v_people);
  v_addresses := owed.addresses_of(v_people, v_rows, p_address);
  v_had := owed.had_address(p_address, p_channel);
  v_told := owed.rows_of(v_had);
  known := v_people <> '{}' OR v_had <> '{}';
  SELECT coalesce(array_agg(DISTINCT owed.address_key(address)), '{}') INTO v_keys FROM unnest(v_addresses) AS address;
  SELECT coalesce(array_agg(DISTINCT btrim(s.name)), '{}') INTO v_names
  FROM owed.subscriber s WHERE s.id = ANY (v_people) AND octet_length(btrim(s.name)) > 2;
  -- A recipient's id that is an address, or has a whole name in it.
  SELECT coalesce(array_agg(DISTINCT s.recipient_id), '{}') INTO v_ids
  FROM owed.subscriber s
  WHERE s.id = ANY (v_people) AND (strpos(s.recipient_id, '@') > 0 OR EXISTS (
    SELECT FROM (
      SELECT regexp_replace(lower(word), '[^a-z0-9]', '', 'g') AS bare, word ~ '[^[:alnum:]]' AS long,
        regexp_replace(lower(s.recipient_id), '[^a-z0-9]', '', 'g') AS id
      FROM unnest(v_addresses || v_names) AS word) AS compared
    WHERE bare <> '' AND (bare = compared.id OR long AND length(bare) > 3 AND strpos(compared.id, bare) > 0)));
  -- In the person's own rows, names and whatever else stood for an address too.
  v_own := owed.needles(ARRAY(
    SELECT word FROM unnest(v_addresses || v_keys || v_names) AS word WHERE octet_length(word) > 2
    UNION SELECT id FROM unnest(v_ids) AS id WHERE strpos(id, '@') > 0));
  v_suppressed := ARRAY(
    SELECT x.id FROM owed.suppression x
    WHERE x.channel IN (SELECT name FROM owed.channel) AND x.address = ANY (v_keys) AND x.lifted_at IS NULL
    UNION ALL
    SELECT x.id FROM owed.suppression x
    WHERE x.channel IN (SELECT name FROM owed.channel) AND x.address = ANY (v_keys) AND x.lifted_at IS NOT NULL);

  BEGIN
    INSERT INTO owed.erasure (erased_by, why, subscribers, notifications, cancelled, suppressions, refused_events, texts)
    VALUES (p_by, owed.without(p_why, v_own), 0, 0, 0, 0, 0, 0) RETURNING erasure.id INTO id;

    UPDATE owed.subscriber s SET address = NULL, name = NULL, erased_at = coalesce(s.erased_at, clock_timestamp()),
      recipient_digest = CASE WHEN s.recipient_id = ANY (v_ids) THEN owed.recipient_digest(s.recipient_id) ELSE s.recipient_digest END,
      recipient_id = CASE WHEN s.recipient_id = ANY (v_ids) THEN 'erased-' || s.id ELSE s.recipient_id END
    WHERE s.id = ANY (v_people)
      AND (s.address IS NOT NULL OR s.name IS NOT NULL OR s.erased_at IS NULL OR s.recipient_id = ANY (v_ids));
    GET DIAGNOSTICS subscribers = ROW_COUNT;
    SELECT coalesce(sum(owed.rename_old_sends(s.id, s.recipient_digest, s.recipient_id)), 0) INTO texts
    FROM owed.subscriber s WHERE s.id = ANY (v_people) AND s.recipient_digest IS NOT NULL;

    DELETE FROM owed.former_address f
    WHERE f.subscriber_id = ANY (v_people) OR (f.subscriber_id = ANY (v_had) AND owed.same_address(f.address, p_address));
    GET DIAGNOSTICS former_addresses = ROW_COUNT;

    UPDATE owed.notification n SET state = 'cancelled', cancelled_at = clock_timestamp(), cancelled_by = 'erasure ' || erase.id,
      reason = 'erased', owed_at = NULL, died_at = NULL, stopped_at = NULL
    FROM (
      SELECT locked.id FROM owed.notification locked
      WHERE locked.id = ANY (v_rows)
        AND (locked.state IN ('pending', 'leased', 'queued', 'dead') OR (locked.state = 'unknown' AND locked.owed_at IS NULL))
      ORDER BY locked.id FOR NO KEY UPDATE) AS held
    WHERE n.id = held.id;
    GET DIAGNOSTICS cancelled = ROW_COUNT;

    UPDATE owed.notification n SET sent_to = NULL WHERE n.id = ANY (v_rows || v_sent) AND n.sent_to IS NOT NULL;
    GET DIAGNOSTICS notifications = ROW_COUNT;
    UPDATE owed.notification_archive n SET sent_to = NULL WHERE n.id = ANY (v_rows || v_sent) AND n.sent_to IS NOT NULL;
    GET DIAGNOSTICS v_more = ROW_COUNT; notifications := notifications + v_more;

    -- A provider's words may repeat an address; a person's, a name too.
    UPDATE owed.notification n SET reason = owed.without(n.reason, CASE WHEN n.id = ANY (v_rows) THEN v_own ELSE v_all END)
    WHERE n.id = ANY (v_rows || v_sent || v_told)
      AND owed.without(n.reason, CASE WHEN n.id = ANY (v_rows) THEN v_own ELSE v_all END) <> n.reason;
    GET DIAGNOSTICS v_more = ROW_COUNT; texts := texts + v_more;
    UPDATE owed.notification_archive n SET reason = owed.without(n.reason, CASE WHEN n.id = ANY (v_rows) THEN v_own ELSE v_all END)
    WHERE n.id = ANY (v_rows || v_sent || v_told)
      AND owed.without(n.reason, CASE WHEN n.id = ANY (v_rows) THEN v_own ELSE v_all END) <> n.reason;
    GET DIAGNOSTICS v_more = ROW_COUNT; texts := texts + v_more;
    UPDATE owed.attempt a SET reason = owed.without(a.reason, v_own)
    WHERE a.notification_id = ANY (v_rows) AND owed.without(a.reason, v_own) <> a.reason;
    GET DIAGNOSTICS v_more = ROW_COUNT; texts := texts + v_more;
    UPDATE owed.attempt a SET reason = owed.without(a.reason, v_all)
    WHERE a.id = ANY (v_attempts) AND owed.without(a.reason, v_all) <> a.reason;
    GET DIAGNOSTICS v_more = ROW_COUNT; texts := texts + v_more;
    UPDATE owed.channel c SET closed_why = owed.without(c.closed_why, v_all) WHERE owed.without(c.closed_why, v_all) <> c.closed_why;
    IF v_timers <> '{}' THEN
      UPDATE owed.backfill_refusal b SET timer_id = NULL WHERE b.timer_id = ANY (v_timers);
    END IF;

    -- Where a digest stands already, the address is one too many.
    DELETE FROM owed.suppression x
    WHERE x.id = ANY (v_suppressed) AND x.address = ANY (v_keys) AND x.lifted_at IS NULL AND EXISTS (
      SELECT FROM owed.suppression same
      WHERE same.channel = x.channel AND same.address = owed.address_digest(x.address) AND same.lifted_at IS NULL);
    UPDATE owed.suppression x SET
      address = CASE WHEN x.address = ANY (v_keys) THEN owed.address_digest(x.address) ELSE x.address END,
      detail = owed.without(x.detail, CASE WHEN x.id = ANY (v_suppressed) THEN v_own ELSE v_all END),
      lifted_why = owed.without(x.lifted_why, CASE WHEN x.id = ANY (v_suppressed) THEN v_own ELSE v_all END)
    WHERE x.id = ANY (v_suppressed || v_hints);
    GET DIAGNOSTICS suppressions = ROW_COUNT;

    UPDATE owed.refused_event r SET body = '' WHERE r.id = ANY (v_refused) AND octet_length(r.body) > 0;
    GET DIAGNOSTICS refused_events = ROW_COUNT;

    IF p_dry_run OR subscribers + notifications + cancelled + suppressions + refused_events + texts + former_addresses = 0 THEN
      RAISE EXCEPTION 'undone' USING ERRCODE = 'OW005';
    END IF;
    UPDATE owed.erasure x SET subscribers = erase.subscribers, notifications = erase.notifications, cancelled = erase.cancelled,
      suppressions = erase.suppressions, refused_events = erase.refused_events, texts = erase.texts,
      former_addresses = erase.former_addresses
    WHERE x.id = erase.id;
  EXCEPTION WHEN SQLSTATE 'OW005' THEN
    id := NULL;
  END;
  RETURN NEXT;
END $function$;

CREATE OR REPLACE FUNCTION owed.evidence_until(p_channel text, grace double precision)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
AS $function$
  SELECT now() + make_interval(secs => CASE WHEN c.provider_tells THEN grace ELSE 0 END) FROM owed.channel c WHERE c.name = p_channel
$function$;

CREATE OR REPLACE FUNCTION owed.fan_out(p_shipment_id text, p_status text, p_occurred_at timestamp with time zone, p_newest boolean, p_now timestamp with time zone)
 RETURNS TABLE(ordinal bigint, subscriber_id bigint, rule_id bigint, channel text, addressed boolean, due_at timestamp with time zone, send_by timestamp with time zone, moot text, by text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION owed.find_notification(p_event_id text, p_recipient_id text, p_channel text, p_template text)
 RETURNS uuid
 LANGUAGE sql
 STABLE
AS $function$
  SELECT n.id
  FROM owed.event e
  CROSS JOIN LATERAL (
    SELECT told.id, told.subscriber_id, told.rule_id FROM owed.notification_ever told
    WHERE told.id > e.key AND told.id <= owed.notification_id(e.key, 65535) AND told.channel = p_channel AND told.replays IS NULL
    OFFSET 0) AS n
  JOIN owed.rule r ON r.id = n.rule_id AND r.template = p_template
  -- By the id that the recipient had before it was erased, too.
  WHERE e.id = p_event_id AND n.subscriber_id = owed.subscriber_named(e.shipment_id, p_recipient_id, p_channel)
  LIMIT 1
$function$;

CREATE OR REPLACE FUNCTION owed.find_notified(p_by text, p_value text, p_most integer)
 RETURNS TABLE(subscriber_id bigint, notification_id uuid)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER ROWS 20
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
AS $function$
DECLARE
  -- A recipient of a shipment has one in each channel at most.
  v_most  bigint := p_most * (SELECT count(*) FROM owed.channel);
  v_found bigint;
BEGIN
  IF p_by = 'message' THEN
    RETURN QUERY
      WITH found AS (
        (SELECT n.id, NULL::bigint AS old FROM owed.notification_ever n WHERE n.provider_message_id = p_value LIMIT p_most)
        UNION ALL
        (SELECT a.notification_id, NULL FROM owed.attempt a WHERE a.provider_message_id = p_value LIMIT p_most)
        UNION ALL
        (SELECT o.notification_id, o.id FROM owed.old_send o WHERE o.provider_message_id = p_value LIMIT p_most)
      )
      SELECT n.subscriber_id, n.id FROM found JOIN owed.notification_ever n ON n.id = found.id
      UNION ALL
      -- The old sender also sent what the ledger has no row for.
      SELECT owed.subscriber_named(e.shipment_id, o.recipient_id, o.channel), NULL
      FROM found JOIN owed.old_send o ON o.id = found.old JOIN owed.event e ON e.id = o.event_id;
  ELSIF p_by = 'recipient' THEN
    RETURN QUERY
      (SELECT s.id, NULL::uuid FROM owed.subscriber s WHERE s.recipient_id = p_value ORDER BY s.id DESC LIMIT v_most)
      UNION ALL
      (SELECT s.id, NULL FROM owed.subscriber s WHERE s.recipient_digest = owed.recipient_digest(p_value)
       ORDER BY s.id DESC LIMIT v_most);
  ELSE
    RETURN QUERY
      SELECT s.id, NULL::uuid FROM owed.subscriber s WHERE owed.same_address(s.address, p_value) ORDER BY s.id DESC LIMIT v_most;
    GET DIAGNOSTICS v_found = ROW_COUNT;
    IF v_found < v_most THEN
      RETURN QUERY
        SELECT f.subscriber_id, NULL::uuid FROM owed.former_address f
        WHERE owed.same_address(f.address, p_value) ORDER BY f.subscriber_id DESC LIMIT v_most;
    END IF;
  END IF;
END $function$;

CREATE OR REPLACE FUNCTION owed.had_address(p_address text, p_channel text)
 RETURNS bigint[]
 LANGUAGE sql
 STABLE
AS $function$
  SELECT ARRAY(
    SELECT DISTINCT f.subscriber_id FROM owed.former_address f JOIN owed.subscriber s ON s.id = f.subscriber_id
    WHERE owed.same_address(f.address, p_address) AND coalesce(s.channel = p_channel, true))
$function$;

CREATE OR REPLACE FUNCTION owed.hear_recipient(p_channel text, p_address text, p_stop boolean, p_said_at timestamp with time zone)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION owed.hold_rows(p_merchant_id text, p_mode text, p_after text, p_most integer)
 RETURNS TABLE(id uuid, did text, next text)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  IF owed.keep_mode(p_merchant_id) IS DISTINCT FROM p_mode OR p_mode = 'owed' THEN RETURN; END IF;
  RETURN QUERY
  WITH shipment AS MATERIALIZED (
    SELECT sh.id FROM owed.shipment sh WHERE sh.merchant_id = p_merchant_id AND sh.id > p_after ORDER BY sh.id LIMIT p_most
  ), page AS MATERIALIZED (
    SELECT n.id
    FROM shipment
    CROSS JOIN LATERAL (SELECT heard.key FROM owed.event heard WHERE heard.shipment_id = shipment.id OFFSET 0) AS e
    CROSS JOIN LATERAL (
      SELECT waits.id, waits.owed_at FROM owed.notification waits
      WHERE waits.id > e.key AND waits.id <= owed.notification_id(e.key, 65535)
      OFFSET 0) AS n
    WHERE n.owed_at < 'infinity'
  ), locked AS MATERIALIZED (
    SELECT n.id FROM owed.notification n
    WHERE n.id = ANY (ARRAY(SELECT page.id FROM page)) AND n.state = 'pending' AND n.mode IS NULL AND n.attempts = 0 AND n.resends = 0 AND n.replays IS NULL
    ORDER BY n.id FOR NO KEY UPDATE OF n
  ), held AS (
    UPDATE owed.notification n SET mode = p_mode, owed_at = 'infinity', old_claimed_at = NULL
    WHERE n.id = ANY (ARRAY(SELECT locked.id FROM locked))
    RETURNING n.id
  )
  SELECT page.id, CASE WHEN held.id IS NULL THEN 'kept' ELSE 'moved' END, NULL FROM page LEFT JOIN held ON held.id = page.id
  UNION ALL
  SELECT NULL, NULL, max(shipment.id) FROM shipment HAVING count(*) = p_most;
END $function$;

CREATE OR REPLACE FUNCTION owed.is_specific(address text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT address ~ '[^[:space:]@]@[^[:space:]@]' OR address ~* '^https://[^[:space:]]{3,}$'
    OR (address ~ '^[+0-9 ()./-]+$' AND length(regexp_replace(address, '[^0-9]', '', 'g')) >= 7)
$function$;

CREATE OR REPLACE FUNCTION owed.is_time_zone(given text)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
BEGIN
  IF given !~ '^(UTC|[A-Za-z]+(/[A-Za-z0-9_+-]+){1,2})$' THEN RETURN false; END IF;
  PERFORM now() AT TIME ZONE given;
  RETURN true;
EXCEPTION WHEN invalid_parameter_value THEN
  RETURN false;
END $function$;

CREATE OR REPLACE FUNCTION owed.judge_timers(p_lines jsonb)
 RETURNS TABLE(line bigint, timer_id text, merchant_id text, merchant_name text, shipment_id text, tracking_number text, event_id text, status text, occurred_at timestamp with time zone, recipient_id text, role text, channel text, address text, name text, locale text, time_zone text, template text, due_at timestamp with time zone, send_by timestamp with time zone, rule_id bigint, field text, reason text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  WITH given AS MATERIALIZED (
    SELECT t.*, coalesce(t.event_id, owed.timer_event_id(t.shipment_id, t.status, t.occurred_at)) AS event
    FROM jsonb_to_recordset(p_lines) AS t (line bigint, timer_id text, merchant_id text, merchant_name text, shipment_id text,
      tracking_number text, event_id text, status text, occurred_at timestamptz, recipient_id text, role text, channel text,
      address text, name text, locale text, time_zone text, template text, due_at timestamptz, send_by timestamptz)
  ), shipment AS MATERIALIZED (
    SELECT own.id, sh.merchant_id,
      CASE WHEN sh.id IS NULL THEN 0 ELSE (SELECT count(*) FROM owed.subscriber s WHERE s.shipment_id = own.id) END AS subscribers,
      CASE WHEN sh.id IS NULL THEN 0 ELSE (SELECT count(*) FROM owed.event e WHERE e.shipment_id = own.id) END AS events
    FROM (SELECT DISTINCT shipment_id AS id FROM given) AS own LEFT JOIN owed.shipment sh ON sh.id = own.id
  ), rules AS MATERIALIZED (
    SELECT kind.*, r.id AS rule_id, r.send_within_s
    FROM (SELECT DISTINCT merchant_id, status, role, channel, template FROM given) AS kind
    JOIN owed.rule r ON r.active AND NOT r.silent AND (r.status, r.role, r.channel, r.template) = (kind.status, kind.role, kind.channel, kind.template)
      AND (r.merchant_id = kind.merchant_id
        OR r.merchant_id IS NULL AND NOT EXISTS (
          SELECT FROM owed.rule own WHERE own.active AND own.merchant_id = kind.merchant_id
            AND own.status = r.status AND own.role = r.role AND own.channel = r.channel))
  ), zone AS MATERIALIZED (
    SELECT named.time_zone FROM (SELECT DISTINCT time_zone FROM given WHERE time_zone IS NOT NULL) AS named
    WHERE NOT owed.is_time_zone(named.time_zone)
  ), known AS (
    SELECT given.*, m.mode, sh.merchant_id AS owner, r.rule_id, r.send_within_s, s.role AS own_role,
      e.key IS NOT NULL AS heard, (e.shipment_id, e.status, e.occurred_at) = (given.shipment_id, given.status, given.occurred_at) AS same,
      first_value(given.merchant_id) OVER (PARTITION BY given.shipment_id ORDER BY given.line) AS first_owner,
      first_value(ROW(given.shipment_id, given.status, given.occurred_at)) OVER (PARTITION BY given.event ORDER BY given.line) AS first_event,
      first_value(given.role) OVER (PARTITION BY given.shipment_id, given.recipient_id, given.channel ORDER BY given.line) AS first_role,
      -- Who is new to the shipment, and what, in the order of their names: the fiftieth and the hundredth are the last.
      sh.subscribers + CASE WHEN s.id IS NULL THEN dense_rank() OVER (
        PARTITION BY given.shipment_id, s.id IS NULL ORDER BY given.recipient_id, given.channel) ELSE 0 END AS subscribers,
      sh.events + CASE WHEN e.key IS NULL THEN dense_rank() OVER (
        PARTITION BY given.shipment_id, e.key IS NULL ORDER BY given.event) ELSE 0 END AS events
    FROM given
    JOIN shipment sh ON sh.id = given.shipment_id
    LEFT JOIN owed.merchant m ON m.id = given.merchant_id
    LEFT JOIN owed.event e ON e.id = given.event
    LEFT JOIN owed.subscriber s ON (s.shipment_id, s.recipient_id, s.channel) = (given.shipment_id, given.recipient_id, given.channel)
    LEFT JOIN rules r ON (r.merchant_id, r.status, r.role, r.channel, r.template)
      = (given.merchant_id, given.status, given.role, given.channel, given.template)
  ), judged AS (
    SELECT known.*, CASE
      WHEN mode = 'owed' THEN 'merchant_id is a merchant for whom Owed sends already'
      WHEN owner <> merchant_id OR first_owner <> merchant_id THEN 'merchant_id is not the shipment''s'
      WHEN NOT EXISTS (SELECT FROM owed.status x WHERE x.name = status) THEN
        'status is not a known status: there are ' || (SELECT string_agg(x.name, ', ' ORDER BY x.name) FROM owed.status x)
      WHEN NOT EXISTS (SELECT FROM owed.channel x WHERE x.name = channel) THEN
        'channel is not a known channel: there are ' || (SELECT string_agg(x.name, ', ' ORDER BY x.name) FROM owed.channel x)
      WHEN occurred_at > now() + interval '5 minutes' THEN 'occurred_at is more than five minutes in the future'
      WHEN EXISTS (SELECT FROM zone WHERE zone.time_zone = known.time_zone) THEN 'time_zone is not a name of the IANA database'
      WHEN rule_id IS NULL THEN
        'template is no active rule''s for this merchant, status, role and channel: ''owed rules list'' shows them'
      WHEN heard AND NOT same OR first_event <> ROW(shipment_id, status, occurred_at) THEN 'event_id is taken by an event with other content'
      WHEN coalesce(own_role, first_role) <> role THEN 'role is not the one that this recipient has'
      WHEN send_by <= due_at THEN 'send_by must be after due_at'
      WHEN send_by IS NULL AND occurred_at + make_interval(secs => send_within_s) <= due_at THEN
        'send_by is missing, and the rule''s deadline is not after due_at: it would never be sent'
      WHEN subscribers > 50 THEN 'shipment_id has 50 subscribers, more than a shipment has'
      WHEN events > 100 THEN 'shipment_id has 100 events, more than a shipment has'
    END AS wrong
    FROM known
  )
  SELECT line, timer_id, merchant_id, merchant_name, shipment_id, tracking_number, event, status, occurred_at, recipient_id, role,
    channel, address, name, locale, time_zone, template, due_at,
    coalesce(send_by, occurred_at + make_interval(secs => send_within_s)), rule_id,
    split_part(wrong, ' ', 1), substr(wrong, strpos(wrong, ' ') + 1)
  FROM judged
$function$;

CREATE OR REPLACE FUNCTION owed.keep_former_address()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  INSERT INTO owed.former_address (subscriber_id, address) VALUES (OLD.id, OLD.address) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION owed.keep_mode(p_merchant_id text)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
DECLARE
  v_mode text;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtext('owed.mode'), owed.mode_key(p_merchant_id));
  -- A statement of its own, to see the cutover that was waited for. One snapshot for the whole transaction does not: its row says so.
  IF current_setting('transaction_isolation') = 'read committed' THEN
    SELECT m.mode INTO v_mode FROM owed.merchant m WHERE m.id = p_merchant_id;
  ELSE
    SELECT m.mode INTO v_mode FROM owed.merchant m WHERE m.id = p_merchant_id FOR SHARE;
  END IF;
  RETURN v_mode;
END $function$;

CREATE OR REPLACE FUNCTION owed.keep_pause()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  UPDATE owed.pause SET resumed_at = clock_timestamp() WHERE resumed_at IS NULL;
  IF NEW.paused_at IS NOT NULL THEN
    INSERT INTO owed.pause (paused_at, paused_by, paused_why) VALUES (NEW.paused_at, NEW.paused_by, NEW.paused_why);
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION owed.load(lost_after double precision, lease double precision DEFAULT 120)
 RETURNS TABLE(channel text, due bigint, oldest_due_at timestamp with time zone, in_queue bigint, queued_overdue boolean, unknown_due boolean, vanished boolean, oldest_owed_at timestamp with time zone, on_the_way uuid[])
 LANGUAGE sql
 STABLE
 SET enable_seqscan TO 'off'
AS $function$
  SELECT n.channel,
    count(*) FILTER (WHERE n.state IN ('pending', 'leased') AND n.owed_at <= now()),
    min(n.due_at) FILTER (WHERE n.state IN ('pending', 'leased') AND n.owed_at <= now()),
    count(*) FILTER (WHERE n.state IN ('queued', 'sending') OR (n.state = 'leased' AND n.owed_at > now())),
    bool_or(n.state = 'queued' AND n.owed_at <= now()),
    bool_or(n.state = 'unknown' AND n.owed_at <= now()),
    bool_or(n.state = 'sending' AND n.owed_at <= now()),
    min(n.owed_at),
    array_agg(n.id) FILTER (WHERE n.state IN ('pending', 'leased') AND n.due_at <= now()
      AND n.owed_at > now() AND n.owed_at <= now() + make_interval(secs => lease))
  FROM owed.notification n
  WHERE n.owed_at <= now() + make_interval(secs => lost_after)
  GROUP BY n.channel
$function$;

CREATE OR REPLACE FUNCTION owed.lock_tables(VARIADIC p_tables regclass[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION owed.mode_key(p_merchant_id text)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE
AS $function$ SELECT hashtext(p_merchant_id) & 1023 $function$;

CREATE OR REPLACE FUNCTION owed.move_held(p_merchant_id text, p_mode text, p_since timestamp with time zone, p_past text, p_after text, p_most integer, p_by text, p_why text)
 RETURNS TABLE(id uuid, did text, next text)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  IF owed.keep_mode(p_merchant_id) IS DISTINCT FROM p_mode THEN RETURN; END IF;
  RETURN QUERY
  WITH shipment AS MATERIALIZED (
    SELECT sh.id FROM owed.shipment sh WHERE sh.merchant_id = p_merchant_id AND sh.id > p_after ORDER BY sh.id LIMIT p_most
  ), page AS MATERIALIZED (
    SELECT n.id, e.id AS event_id, s.recipient_id, n.channel, r.template
    FROM shipment
    -- OFFSET 0: short ranges of two indexes for each shipment, whatever the statistics say.
    CROSS JOIN LATERAL (SELECT heard.key, heard.id FROM owed.event heard WHERE heard.shipment_id = shipment.id OFFSET 0) AS e
    CROSS JOIN LATERAL (
      SELECT waits.id, waits.channel, waits.subscriber_id, waits.rule_id, waits.owed_at FROM owed.notification waits
      WHERE waits.id > e.key AND waits.id <= owed.notification_id(e.key, 65535)
      OFFSET 0) AS n
    CROSS JOIN LATERAL (SELECT told.recipient_id FROM owed.subscriber told WHERE told.id = n.subscriber_id OFFSET 0) AS s
    JOIN owed.rule r ON r.id = n.rule_id
    WHERE n.owed_at = 'infinity'
  ), locked AS MATERIALIZED (
    SELECT n.id, n.due_at, n.mode, n.generation, n.old_claimed_at
    FROM owed.notification n
    WHERE n.id = ANY (ARRAY(SELECT page.id FROM page)) AND n.owed_at = 'infinity'
    ORDER BY n.id FOR NO KEY UPDATE OF n
  ), judged AS MATERIALIZED (
    SELECT locked.*, sent.sent_at, sent.provider, sent.provider_message_id, claim.at AS claimed_at,
      CASE
        WHEN sent.sent_at IS NOT NULL THEN 'settled'
        WHEN p_mode <> 'owed' THEN CASE WHEN locked.mode = p_mode THEN 'kept' ELSE 'moved' END
        WHEN claim.at > now() - owed.old_claim_ends() THEN 'claimed'
        WHEN locked.due_at > p_since OR p_past = 'send' THEN 'moved'
        WHEN p_past = 'cancel' THEN 'cancelled'
        ELSE 'past'
      END AS did
    FROM locked JOIN page ON page.id = locked.id
    LEFT JOIN LATERAL (
      SELECT o.sent_at, o.provider, o.provider_message_id FROM owed.old_send o
      WHERE (o.event_id, o.recipient_id, o.channel, o.template) = (page.event_id, page.recipient_id, page.channel, page.template)
        AND o.sent_at IS NOT NULL
      ORDER BY o.sent_at LIMIT 1) AS sent ON true
    CROSS JOIN LATERAL (
      SELECT greatest(locked.old_claimed_at, max(o.claimed_at)) AS at FROM owed.old_send o
      WHERE (o.event_id, o.recipient_id, o.channel, o.template) = (page.event_id, page.recipient_id, page.channel, page.template)
        AND o.sent_at IS NULL) AS claim
  ), changed AS (
    UPDATE owed.notification n SET
      state = CASE judged.did WHEN 'settled' THEN 'delivered' WHEN 'cancelled' THEN 'cancelled' ELSE n.state END,
      owed_at = CASE judged.did WHEN 'moved' THEN CASE p_mode WHEN 'owed' THEN n.due_at ELSE n.owed_at END END,
      mode = CASE WHEN judged.did = 'moved' THEN nullif(p_mode, 'owed') ELSE n.mode END,
      delivered_at = CASE judged.did WHEN 'settled' THEN judged.sent_at END,
      evidence = CASE judged.did WHEN 'settled' THEN 'old_sender' END,
      outcome = CASE judged.did WHEN 'settled' THEN 'accepted' ELSE n.outcome END,
      provider = coalesce(judged.provider, n.provider),
      provider_message_id = coalesce(judged.provider_message_id, n.provider_message_id),
      cancelled_at = CASE judged.did WHEN 'cancelled' THEN now() END,
      cancelled_by = CASE judged.did WHEN 'cancelled' THEN 'operator ' || p_by END,
      reason = CASE judged.did WHEN 'cancelled' THEN 'cutover: ' || p_why ELSE n.reason END
    FROM judged
    WHERE n.id = ANY (ARRAY(SELECT moves.id FROM judged AS moves WHERE moves.did IN ('settled', 'moved', 'cancelled'))) AND n.id = judged.id
  ), told AS (
    INSERT INTO owed.attempt (notification_id, kind, generation, actor, reason)
    SELECT judged.id, 'resent', judged.generation, p_by, 'possible duplicate: the old sender claimed it and did not say what became of it'
    FROM judged WHERE judged.did = 'moved' AND p_mode = 'owed' AND judged.claimed_at IS NOT NULL
    UNION ALL
    SELECT judged.id, 'cancelled', judged.generation, p_by, p_why FROM judged WHERE judged.did = 'cancelled'
  )
  SELECT page.id, coalesce(judged.did, 'kept'), NULL FROM page LEFT JOIN judged ON judged.id = page.id
  UNION ALL
  SELECT NULL, NULL, max(shipment.id) FROM shipment HAVING count(*) = p_most;
END $function$;

CREATE OR REPLACE FUNCTION owed.needles(words text[])
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT '\[erased\]' || coalesce(string_agg(DISTINCT
    '|(?:(?<![a-z0-9]' || CASE WHEN word ~ '@' THEN '|[a-z0-9][._%+''$*&-]+' WHEN word ~ '^[0-9]' THEN '|[a-z0-9][._/-]+' ELSE '' END
    || ')|(?<=\\(?:[bfnrt]|u[0-9a-f]{4}|[0-3][0-7]{2})))'
    || regexp_replace(word, '([][\\.*+?(){}|^$])', '\\\1', 'g')
    || CASE WHEN word ~ '@' THEN '(?![a-z0-9_@]|[.-]+[a-z0-9])' WHEN word ~* '^https:' THEN '(?![a-z0-9/?#&=%_~@-]|[.:]+[a-z0-9])'
      WHEN word ~ '[0-9]$' THEN '(?![a-z0-9]|[._/-][a-z0-9])' ELSE '(?![a-z0-9])' END, ''), '')
  FROM unnest(words) AS word
$function$;

CREATE OR REPLACE FUNCTION owed.new_event_key()
 RETURNS uuid
 LANGUAGE sql
 PARALLEL SAFE
AS $function$
  SELECT (left(encode(
    overlay(uuid_send(gen_random_uuid())
      PLACING substring(int8send(us / 1000) FROM 3) || substring(int4send((28672 + mod(us, 1000) * 4096 / 1000)::integer) FROM 3)
      FROM 1 FOR 8), 'hex'), 28) || '0000')::uuid
  FROM (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS us) AS at
$function$;

CREATE OR REPLACE FUNCTION owed.notification_id(event_key uuid, ordinal bigint)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  SELECT (left(event_key::text, 32) || lpad(to_hex(ordinal), 4, '0'))::uuid
$function$;

CREATE OR REPLACE FUNCTION owed.old_claim(merchant_id text, event_id text, recipient_id text, channel text, template text)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_column
DECLARE
  v_id     uuid;
  v_row    owed.notification;
  v_mode   text;
  v_fresh  timestamptz := clock_timestamp() - owed.old_claim_ends();
BEGIN
  IF NOT EXISTS (SELECT FROM owed.channel c WHERE c.name = $4) THEN PERFORM owed.refuse('channel', 'is not a known channel'); END IF;
  -- One claim after the other: the second sees the first, wherever that found its place, and looks for the row only then.
  PERFORM pg_advisory_xact_lock(hashtext('owed.old_claim'), hashtext(concat_ws(' ', $2, $3, $4, $5)));
  v_mode := owed.keep_mode($1);
  IF v_mode IS NULL THEN
    PERFORM owed.keep_mode('');
    v_mode := coalesce(owed.keep_mode($1), (SELECT new_merchants FROM owed.rollout));
  END IF;
  v_id := owed.find_notification($2, $3, $4, $5);
  IF v_id IS NULL THEN
    IF v_mode = 'owed' THEN RETURN false; END IF;
  ELSE
    SELECT * INTO v_row FROM owed.notification n WHERE n.id = v_id FOR NO KEY UPDATE;
    IF v_row.state IS DISTINCT FROM 'pending' OR v_row.mode IS NULL OR v_row.old_claimed_at > v_fresh THEN RETURN false; END IF;
  END IF;
  -- Sent, or claimed, before the ledger heard of the event.
  IF EXISTS (SELECT FROM owed.old_send o
    WHERE (o.event_id, o.recipient_id, o.channel, o.template) = ($2, $3, $4, $5) AND (o.sent_at IS NOT NULL OR o.claimed_at > v_fresh))
  THEN
    RETURN false;
  END IF;
  IF v_id IS NOT NULL THEN
    UPDATE owed.notification n SET old_claimed_at = clock_timestamp() WHERE n.id = v_id;
    RETURN true;
  END IF;
  INSERT INTO owed.old_send (merchant_id, event_id, recipient_id, channel, template, claimed_at)
  VALUES ($1, $2, $3, $4, $5, clock_timestamp())
  ON CONFLICT (event_id, recipient_id, channel, template, sent_at, provider_message_id)
    DO UPDATE SET claimed_at = excluded.claimed_at WHERE old_send.claimed_at <= v_fresh;
  RETURN FOUND;
END $function$;

CREATE OR REPLACE FUNCTION owed.old_claim_ends()
 RETURNS interval
 LANGUAGE sql
 IMMUTABLE
AS $function$ SELECT interval '15 minutes' $function$;

CREATE OR REPLACE FUNCTION owed.old_due(most integer DEFAULT 100, within interval DEFAULT '1 day'::interval)
 RETURNS TABLE(merchant_id text, event_id text, shipment_id text, status text, occurred_at timestamp with time zone, recipient_id text, role text, channel text, template text, due_at timestamp with time zone)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  WITH held AS MATERIALIZED (
    SELECT n.id, n.event_key, n.subscriber_id, n.rule_id, n.channel, n.due_at
    FROM owed.notification n
    WHERE n.owed_at = 'infinity' AND n.due_at <= now() AND n.due_at > now() - $2
      AND n.shadow_moot IS NULL AND coalesce(n.send_by > now(), true)
      AND coalesce(n.due_at > (SELECT restored_at FROM owed.heartbeat), true)
      AND coalesce(n.old_claimed_at <= now() - owed.old_claim_ends(), true)
    ORDER BY n.due_at, n.id
    LIMIT 100 * $1::bigint
  )
  SELECT sh.merchant_id, e.id, sh.id, e.status, e.occurred_at, s.recipient_id, s.role, n.channel, r.template, n.due_at
  FROM held n
  JOIN owed.event e ON e.key = n.event_key
  JOIN owed.shipment sh ON sh.id = e.shipment_id
  JOIN owed.subscriber s ON s.id = n.subscriber_id
  JOIN owed.rule r ON r.id = n.rule_id
  WHERE NOT EXISTS (SELECT FROM owed.old_send o
      WHERE (o.event_id, o.recipient_id, o.channel, o.template) = (e.id, s.recipient_id, n.channel, r.template)
        AND (o.sent_at IS NOT NULL OR o.claimed_at > now() - owed.old_claim_ends()))
    AND (SELECT still.reason FROM owed.moot AS still WHERE still.id = n.id OFFSET 0) IS NULL
  ORDER BY n.due_at, n.id
  LIMIT $1
$function$;

CREATE OR REPLACE FUNCTION owed.old_gave_up(merchant_id text, event_id text, recipient_id text, channel text, template text, reason text DEFAULT NULL::text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_column
BEGIN
  DELETE FROM owed.old_send o
  WHERE (o.event_id, o.recipient_id, o.channel, o.template) = ($2, $3, $4, $5) AND o.sent_at IS NULL;
  UPDATE owed.notification n SET old_claimed_at = NULL,
    state = CASE WHEN $6 IS NULL THEN n.state ELSE 'cancelled' END,
    owed_at = CASE WHEN $6 IS NULL THEN n.owed_at END,
    cancelled_at = CASE WHEN $6 IS NOT NULL THEN clock_timestamp() END,
    cancelled_by = CASE WHEN $6 IS NOT NULL THEN 'old_sender' END,
    reason = 'old_sender: ' || left(regexp_replace($6, '[[:cntrl:]]', ' ', 'g'), 200)
  WHERE n.id = owed.find_notification($2, $3, $4, $5) AND n.state = 'pending' AND n.mode IS NOT NULL;
END $function$;

CREATE OR REPLACE FUNCTION owed.old_sent(merchant_id text, event_id text, recipient_id text, channel text, template text, provider text, provider_message_id text, sent_at timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_column
DECLARE
  v_id  uuid := owed.find_notification($2, $3, $4, $5);
  v_at  timestamptz := least($8, clock_timestamp());
BEGIN
  PERFORM owed.settle_old_send(v_id, $6, $7, v_at);
  DELETE FROM owed.old_send o
  WHERE (o.event_id, o.recipient_id, o.channel, o.template) = ($2, $3, $4, $5) AND o.sent_at IS NULL;
  -- The same message told again, at a later time.
  IF $7 IS NOT NULL AND EXISTS (SELECT FROM owed.old_send o
    WHERE (o.event_id, o.recipient_id, o.channel, o.template, o.provider_message_id) = ($2, $3, $4, $5, $7))
  THEN
    RETURN;
  END IF;
  INSERT INTO owed.old_send (merchant_id, event_id, recipient_id, channel, template, notification_id, provider, provider_message_id,
    sent_at)
  VALUES ($1, $2, $3, $4, $5, v_id, $6, $7, v_at)
  ON CONFLICT DO NOTHING;
END $function$;

CREATE OR REPLACE FUNCTION owed.opt_out(p_shipment_id text, p_recipient_id text, p_channel text)
 RETURNS boolean
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  WITH opted_out AS (
    UPDATE owed.subscriber SET opted_out_at = clock_timestamp()
    WHERE id = owed.subscriber_named(p_shipment_id, p_recipient_id, p_channel) AND opted_out_at IS NULL
    RETURNING 1)
  SELECT EXISTS (SELECT FROM opted_out)
$function$;

CREATE OR REPLACE FUNCTION owed.people(p_shipments text[], p_address text, p_channel text, p_recipient_id text)
 RETURNS bigint[]
 LANGUAGE sql
 STABLE
AS $function$
  SELECT coalesce(array_agg(s.id ORDER BY s.id), '{}')
  FROM owed.subscriber s
  JOIN (
    SELECT DISTINCT same.shipment_id, same.recipient_id, same.recipient_digest FROM owed.subscriber same
    WHERE same.shipment_id = ANY (p_shipments) AND CASE
      WHEN p_address IS NULL THEN
        same.recipient_id = p_recipient_id OR coalesce(same.recipient_digest = owed.recipient_digest(p_recipient_id), false)
      ELSE owed.same_address(same.address, p_address) AND coalesce(same.channel = p_channel, true) END) AS person
    ON s.shipment_id = person.shipment_id AND (s.recipient_id = person.recipient_id OR s.recipient_digest = person.recipient_digest)
  WHERE s.shipment_id = ANY (p_shipments)
$function$;

CREATE OR REPLACE FUNCTION owed.rank(outcome text)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  SELECT array_position(ARRAY['none', 'accepted', 'arrived', 'bounced', 'complained'], outcome)
$function$;

CREATE OR REPLACE FUNCTION owed.recipient_digest(recipient_id text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  SELECT 'sha256:' || encode(sha256(convert_to(recipient_id, 'UTF8')), 'hex')
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

CREATE OR REPLACE FUNCTION owed.refuse_to_rewrite_a_rule()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'rule % is version % and stays so: set a new version instead', OLD.id, OLD.version USING ERRCODE = 'OW004';
END $function$;

CREATE OR REPLACE FUNCTION owed.register_shipment(p_id text, p_merchant_id text, p_merchant_name text, p_tracking_number text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  v_was text;
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
  IF owed.keep_mode(p_merchant_id) IS NULL THEN
    PERFORM owed.keep_mode('');
    INSERT INTO owed.merchant (id, name, mode) SELECT p_merchant_id, p_merchant_name, new_merchants FROM owed.rollout
    ON CONFLICT (id) DO NOTHING;
  END IF;
  -- What stays as it is is not locked: an event beside this waits for nothing. The shipment first, as for an event.
  INSERT INTO owed.shipment (id, merchant_id, tracking_number) VALUES (p_id, p_merchant_id, p_tracking_number)
  ON CONFLICT (id) DO NOTHING;
  IF NOT FOUND THEN
    SELECT sh.merchant_id INTO v_was FROM owed.shipment sh WHERE sh.id = p_id FOR NO KEY UPDATE;
    IF v_was <> p_merchant_id AND EXISTS (
      SELECT FROM owed.event e
      CROSS JOIN LATERAL (
        SELECT n.owed_at FROM owed.notification n WHERE n.id > e.key AND n.id <= owed.notification_id(e.key, 65535) OFFSET 0) AS waits
      WHERE e.shipment_id = p_id AND waits.owed_at = 'infinity')
    THEN
      PERFORM owed.refuse('merchant_id',
        'is not the shipment''s, and the old sender holds notifications of it: cut over the merchant that it belongs to first');
    END IF;
    UPDATE owed.shipment sh SET tracking_number = p_tracking_number, merchant_id = p_merchant_id
    WHERE sh.id = p_id AND (sh.tracking_number, sh.merchant_id) <> (p_tracking_number, p_merchant_id);
  END IF;
  UPDATE owed.merchant m SET name = p_merchant_name WHERE m.id = p_merchant_id AND m.name <> p_merchant_name;
END $function$;

CREATE OR REPLACE FUNCTION owed.rename_old_sends(p_subscriber bigint, p_digest text, p_recipient_id text)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
  v_ids bigint[];
BEGIN
  v_ids := ARRAY(
    SELECT o.id FROM owed.subscriber s JOIN owed.event e USING (shipment_id) JOIN owed.old_send o ON o.event_id = e.id
    WHERE s.id = p_subscriber AND o.channel = s.channel AND owed.recipient_digest(o.recipient_id) = p_digest);
  -- Said under both ids.
  DELETE FROM owed.old_send o WHERE o.id = ANY (v_ids) AND EXISTS (
    SELECT FROM owed.old_send same
    WHERE (same.event_id, same.recipient_id, same.channel, same.template) = (o.event_id, p_recipient_id, o.channel, o.template)
      AND (same.sent_at, same.provider_message_id) IS NOT DISTINCT FROM (o.sent_at, o.provider_message_id));
  UPDATE owed.old_send o SET recipient_id = p_recipient_id WHERE o.id = ANY (v_ids);
  RETURN cardinality(v_ids);
END $function$;

CREATE OR REPLACE FUNCTION owed.retain(p_days integer, p_refused_days integer, p_most integer)
 RETURNS TABLE(moved integer, refused integer, more boolean)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  v_retention owed.retention;
  v_before    timestamptz := now() - make_interval(days => p_days);
  v_passed    uuid;
  v_deleted   integer;
BEGIN
  moved := 0; refused := 0; more := false;
  SELECT * INTO v_retention FROM owed.retention WHERE next_at <= now() FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN NEXT; RETURN;
  END IF;

  IF p_days IS NOT NULL THEN
    WITH page AS MATERIALIZED (
      SELECT n.id, e.shipment_id, e.recorded_at <= v_before AS old
      FROM (SELECT id, event_key FROM owed.notification WHERE id > v_retention.passed ORDER BY id LIMIT p_most) AS n
      JOIN owed.event e ON e.key = n.event_key
    ), shipment AS MATERIALIZED (
      SELECT shipment_id, (array_agg(id ORDER BY id))[1] AS first FROM page WHERE old GROUP BY shipment_id
    ), row AS MATERIALIZED (
      SELECT shipment.shipment_id, n.id, n.over
      FROM shipment JOIN owed.event e USING (shipment_id)
      -- OFFSET 0: a short range of the primary key for each event, whatever the statistics say.
      CROSS JOIN LATERAL (
        SELECT told.id, CASE told.state
          WHEN 'delivered' THEN told.delivered_at <= v_before
          WHEN 'cancelled' THEN told.cancelled_at <= v_before
          WHEN 'dead' THEN told.stopped_at <= v_before AND coalesce(told.send_by <= now(), false)
          ELSE false END AS over
        FROM owed.notification told WHERE told.id > e.key AND told.id <= owed.notification_id(e.key, 65535) OFFSET 0) AS n
    ), chosen AS MATERIALIZED (
      SELECT shipment_id, first, sum(rows) OVER (ORDER BY first) - rows < p_most AS taken
      FROM (SELECT shipment_id, CASE WHEN bool_and(over) THEN count(*) ELSE 0 END AS rows FROM row GROUP BY shipment_id) AS counted
      JOIN shipment USING (shipment_id)
    ), locked AS MATERIALIZED (
      -- Who is at work on a row keeps its shipment here, and a dead one may have been replayed meanwhile.
      SELECT id FROM owed.notification
      WHERE id = ANY (ARRAY(SELECT row.id FROM row JOIN chosen USING (shipment_id) WHERE chosen.taken))
        AND state IN ('delivered', 'cancelled', 'dead')
      ORDER BY id FOR UPDATE SKIP LOCKED
    ), gone AS (
      DELETE FROM owed.notification WHERE id = ANY (ARRAY(
        SELECT unnest(array_agg(row.id))
        FROM row JOIN chosen USING (shipment_id)
        WHERE chosen.taken
        -- IN: looked up in a table of hashes, where a join would compare each with each.
        GROUP BY row.shipment_id HAVING bool_and(row.over AND row.id IN (SELECT id FROM locked))))
      RETURNING *
    ), kept AS (
      INSERT INTO owed.notification_archive SELECT * FROM gone RETURNING id
    ), left_over AS (
      SELECT (array_agg(first ORDER BY first))[1] AS first FROM chosen WHERE NOT taken
    )
    SELECT (SELECT count(*) FROM kept),
      (array_agg(page.id ORDER BY page.id DESC) FILTER (WHERE page.old AND coalesce(page.id < left_over.first, true)))[1],
      coalesce(bool_or(left_over.first IS NOT NULL), false) OR (count(*) = p_most AND bool_and(page.old))
    INTO moved, v_passed, more
    FROM page CROSS JOIN left_over;
  END IF;

  -- By their keys, which follow their time: only as many are looked at as may go.
  DELETE FROM owed.refused_event WHERE id = ANY (ARRAY(
    SELECT id FROM (SELECT id, refused_at FROM owed.refused_event ORDER BY id LIMIT p_most) AS oldest
    WHERE refused_at <= now() - make_interval(days => p_refused_days)));
  GET DIAGNOSTICS refused = ROW_COUNT;
  more := more OR refused = p_most;
  DELETE FROM owed.sweep_run WHERE id = ANY (ARRAY(
    SELECT id FROM (SELECT id, started_at FROM owed.sweep_run ORDER BY id LIMIT p_most) AS oldest
    WHERE started_at <= now() - interval '400 days'));
  GET DIAGNOSTICS v_deleted = ROW_COUNT;
  more := more OR v_deleted = p_most;
  -- Older ones prove nothing: see look-again.
  DELETE FROM owed.claim_mark WHERE minute = ANY (ARRAY(
    SELECT minute FROM owed.claim_mark WHERE minute <= now() - interval '15 days' ORDER BY minute LIMIT p_most));
  GET DIAGNOSTICS v_deleted = ROW_COUNT;
  more := more OR v_deleted = p_most;

  UPDATE owed.retention SET
    passed = CASE WHEN NOT more AND round_since <= now() - interval '7 days' THEN '00000000-0000-0000-0000-000000000000'
      ELSE coalesce(v_passed, passed) END,
    round_since = CASE WHEN NOT more AND round_since <= now() - interval '7 days' THEN now() ELSE round_since END,
    next_at = CASE WHEN more THEN next_at ELSE now() + interval '1 hour' END;
  RETURN NEXT;
END $function$;

CREATE OR REPLACE FUNCTION owed.rows_of(p_people bigint[])
 RETURNS uuid[]
 LANGUAGE sql
 STABLE
AS $function$
  SELECT coalesce(array_agg(n.id ORDER BY n.id), '{}')
  FROM (SELECT DISTINCT s.shipment_id FROM owed.subscriber s WHERE s.id = ANY (p_people)) AS shipment
  JOIN owed.event e USING (shipment_id)
  CROSS JOIN LATERAL (
    SELECT told.id FROM owed.notification_ever told
    WHERE told.id > e.key AND told.id <= owed.notification_id(e.key, 65535) AND told.subscriber_id = ANY (p_people) OFFSET 0) AS n
$function$;

CREATE OR REPLACE FUNCTION owed.same_address(given text, wanted text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  SELECT translate(lower(btrim(given)), ' ()./-', '') = translate(lower(btrim(wanted)), ' ()./-', '')
    AND owed.address_key(given) = owed.address_key(wanted)
$function$;

CREATE OR REPLACE FUNCTION owed.set_mode(p_merchant_id text, p_mode text, p_unheard_too boolean, p_dry_run boolean, p_by text, p_why text)
 RETURNS TABLE(was text, unheard integer, events text[], waits_for text, done boolean)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  SELECT m.mode INTO was FROM owed.merchant m WHERE m.id = p_merchant_id;
  IF NOT FOUND THEN RETURN; END IF;
  IF was <> p_mode AND NOT p_dry_run THEN
    -- Events and claims on their way end first, and those that come wait for this.
    waits_for := owed.take_mode(p_merchant_id);
    SELECT m.mode INTO was FROM owed.merchant m WHERE m.id = p_merchant_id;
  END IF;
  SELECT u.sends, u.events INTO unheard, events FROM owed.unheard(p_merchant_id) AS u;
  done := waits_for IS NULL AND (p_mode <> 'owed' OR was = 'owed' OR unheard = 0 OR p_unheard_too);
  IF done AND was <> p_mode AND NOT p_dry_run THEN
    BEGIN
      -- Whoever is changing the row may be about to ask for its mode.
      PERFORM FROM owed.merchant m WHERE m.id = p_merchant_id FOR NO KEY UPDATE NOWAIT;
      UPDATE owed.merchant SET mode = p_mode WHERE id = p_merchant_id;
      INSERT INTO owed.cutover (merchant_id, was, became, actor, why) VALUES (p_merchant_id, was, p_mode, p_by, p_why);
    EXCEPTION WHEN lock_not_available THEN
      waits_for := 'somebody who changes the merchant''s name or address';
      done := false;
    END;
  END IF;
  RETURN NEXT;
END $function$;

CREATE OR REPLACE FUNCTION owed.set_new_merchants(p_mode text, p_unheard_too boolean, p_dry_run boolean, p_by text, p_why text)
 RETURNS TABLE(was text, unheard integer, events text[], waits_for text, done boolean)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  SELECT new_merchants INTO was FROM owed.rollout;
  IF was <> p_mode AND NOT p_dry_run THEN
    waits_for := owed.take_mode('');
    SELECT new_merchants INTO was FROM owed.rollout;
  END IF;
  SELECT u.sends, u.events INTO unheard, events FROM owed.unheard(NULL) AS u;
  done := waits_for IS NULL AND (p_mode <> 'owed' OR was = 'owed' OR unheard = 0 OR p_unheard_too);
  IF done AND was <> p_mode AND NOT p_dry_run THEN
    UPDATE owed.rollout SET new_merchants = p_mode;
    INSERT INTO owed.cutover (was, became, actor, why) VALUES (was, p_mode, p_by, p_why);
  END IF;
  RETURN NEXT;
END $function$;

CREATE OR REPLACE FUNCTION owed.set_rule(p_merchant_id text, p_status text, p_role text, p_channel text, p_template text, p_delay_s integer, p_at_time time without time zone, p_send_within_s integer, p_only_while_current boolean, p_newest_replaces boolean, p_on_unknown text, p_by text, p_why text, p_silent boolean DEFAULT false, p_dry_run boolean DEFAULT false)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION owed.settle_early_sends(p_event_id text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  v_send owed.old_send;
  v_id   uuid;
BEGIN
  FOR v_send IN SELECT * FROM owed.old_send o WHERE o.event_id = p_event_id AND o.sent_at IS NOT NULL ORDER BY o.sent_at LOOP
    v_id := owed.find_notification(p_event_id, v_send.recipient_id, v_send.channel, v_send.template);
    PERFORM owed.settle_old_send(v_id, v_send.provider, v_send.provider_message_id, v_send.sent_at);
    UPDATE owed.old_send o SET notification_id = v_id WHERE o.id = v_send.id;
  END LOOP;
END $function$;

CREATE OR REPLACE FUNCTION owed.settle_old_send(p_id uuid, p_provider text, p_provider_message_id text, p_sent_at timestamp with time zone)
 RETURNS void
 LANGUAGE sql
AS $function$
  UPDATE owed.notification n SET
    state = CASE n.state WHEN 'cancelled' THEN n.state ELSE 'delivered' END,
    delivered_at = CASE WHEN n.state <> 'cancelled' THEN p_sent_at END,
    evidence = CASE WHEN n.state <> 'cancelled' THEN 'old_sender' END,
    outcome = CASE n.outcome WHEN 'none' THEN 'accepted' ELSE n.outcome END,
    provider = coalesce(n.provider, p_provider), provider_message_id = coalesce(n.provider_message_id, p_provider_message_id),
    lease_token = n.lease_token + CASE n.state WHEN 'cancelled' THEN 0 ELSE 1 END, owed_at = NULL, died_at = NULL, stopped_at = NULL,
    reason = CASE n.state WHEN 'cancelled' THEN n.reason END
  WHERE n.id = p_id AND n.state <> 'delivered'
$function$;

CREATE OR REPLACE FUNCTION owed.subscribe(p_shipment_id text, p_recipient_id text, p_role text, p_channel text, p_address text, p_name text DEFAULT NULL::text, p_locale text DEFAULT 'en'::text, p_time_zone text DEFAULT NULL::text)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  v_erased owed.subscriber;
BEGIN
  SELECT * INTO v_erased FROM owed.subscriber s
  WHERE s.id = owed.subscriber_named(p_shipment_id, p_recipient_id, p_channel) AND s.recipient_id <> p_recipient_id;
  IF FOUND THEN
    UPDATE owed.subscriber s SET recipient_id = p_recipient_id, recipient_digest = NULL WHERE s.id = v_erased.id;
    PERFORM owed.rename_old_sends(v_erased.id, owed.recipient_digest(v_erased.recipient_id), p_recipient_id);
  END IF;
  RETURN owed.subscribe_by_id(p_shipment_id, p_recipient_id, p_role, p_channel, p_address, p_name, p_locale, p_time_zone);
END $function$;

CREATE OR REPLACE FUNCTION owed.subscribe_by_id(p_shipment_id text, p_recipient_id text, p_role text, p_channel text, p_address text, p_name text DEFAULT NULL::text, p_locale text DEFAULT 'en'::text, p_time_zone text DEFAULT NULL::text)
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
END $function$;

CREATE OR REPLACE FUNCTION owed.subscriber_named(p_shipment_id text, p_recipient_id text, p_channel text)
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
  SELECT s.id FROM owed.subscriber s
  WHERE s.shipment_id = p_shipment_id AND s.channel = p_channel
    AND (s.recipient_id = p_recipient_id OR s.recipient_digest = owed.recipient_digest(p_recipient_id))
  ORDER BY s.recipient_id = p_recipient_id DESC
  LIMIT 1
$function$;

CREATE OR REPLACE FUNCTION owed.suppression_key(p_channel text, p_address text)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  SELECT CASE WHEN EXISTS (SELECT FROM owed.suppression x WHERE x.channel = $1 AND x.address = digest.key AND x.lifted_at IS NULL)
      OR EXISTS (SELECT FROM owed.suppression x WHERE x.channel = $1 AND x.address = digest.key AND x.lifted_at IS NOT NULL)
    THEN digest.key ELSE owed.address_key($2) END
  FROM (SELECT owed.address_digest($2) AS key) AS digest
$function$;

CREATE OR REPLACE FUNCTION owed.take_mode(p_merchant_id text)
 RETURNS text
 LANGUAGE plpgsql
 SET lock_timeout TO '3s'
AS $function$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('owed.mode'), owed.mode_key(p_merchant_id));
  RETURN NULL;
EXCEPTION WHEN lock_not_available THEN
  RETURN coalesce((
    SELECT string_agg(format('%s (%s, process %s)', a.usename, coalesce(nullif(a.application_name, ''), 'no name'), a.pid), ', ' ORDER BY a.pid)
    FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2 AND a.datname = current_database()
      AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
      AND l.classid::bigint = hashtext('owed.mode')::bigint & 4294967295 AND l.objid::bigint = owed.mode_key(p_merchant_id)),
    'somebody who has ended by now');
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

CREATE OR REPLACE FUNCTION owed.timer_event_id(shipment_id text, status text, occurred_at timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT 'timer.' || $1 || '.' || $2 || '.' || (extract(epoch FROM $3) * 1000000)::bigint
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

CREATE OR REPLACE FUNCTION owed.unheard(p_merchant_id text)
 RETURNS TABLE(sends integer, events text[])
 LANGUAGE sql
 STABLE
AS $function$
  SELECT count(*)::integer, coalesce((array_agg(DISTINCT o.event_id))[1:5], '{}') FROM owed.old_send o
  WHERE o.notification_id IS NULL AND NOT EXISTS (SELECT FROM owed.event e WHERE e.id = o.event_id)
    AND CASE WHEN p_merchant_id IS NULL THEN NOT EXISTS (SELECT FROM owed.merchant m WHERE m.id = o.merchant_id)
      ELSE o.merchant_id = p_merchant_id END
$function$;

CREATE OR REPLACE FUNCTION owed.weigh_archived(p_ids uuid[], p_ats timestamp with time zone[], p_providers text[], p_message_ids text[], p_outcomes text[], p_details text[], p_suppress boolean[], p_evidence text[])
 RETURNS TABLE(id uuid, duplicate boolean, suppressed boolean, result text)
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  WITH proof AS (
    SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8)
      AS given (id, at, provider, provider_message_id, outcome, detail, suppress, evidence)
  ), row AS MATERIALIZED (
    SELECT n.id, n.generation, n.channel, n.state, n.state IN ('delivered', 'cancelled') AS ended, n.delivered_at, n.cancelled_at,
      n.evidence, n.outcome, n.reason, n.provider, n.provider_message_id,
      coalesce(n.sent_to, (SELECT address FROM owed.subscriber s WHERE s.id = n.subscriber_id)) AS address,
      n.state IN ('delivered', 'cancelled') AND n.provider_message_id <> proof.provider_message_id AS duplicate,
      owed.rank(proof.outcome) > owed.rank(n.outcome)
        AND (proof.outcome <> 'bounced' OR coalesce(n.provider_message_id = proof.provider_message_id, true)) AS higher
    FROM owed.notification_archive n JOIN proof USING (id)
    ORDER BY n.id FOR UPDATE OF n
  ), moved AS (
    UPDATE owed.notification_archive n SET
      state = CASE WHEN row.ended THEN row.state ELSE 'delivered' END,
      delivered_at = CASE WHEN row.ended THEN row.delivered_at ELSE least(proof.at, now()) END,
      cancelled_at = row.cancelled_at, died_at = NULL, stopped_at = NULL,
      evidence = CASE WHEN row.ended THEN row.evidence ELSE proof.evidence END,
      reason = CASE WHEN row.state = 'cancelled' OR (row.ended AND NOT row.higher) THEN row.reason ELSE proof.detail END,
      outcome = CASE WHEN row.higher THEN proof.outcome ELSE row.outcome END,
      provider = coalesce(row.provider, proof.provider),
      provider_message_id = coalesce(row.provider_message_id, proof.provider_message_id)
    FROM row JOIN proof USING (id)
    WHERE n.id = row.id AND (NOT row.ended OR row.provider_message_id IS NULL OR row.higher)
  ), told AS (
    INSERT INTO owed.attempt (notification_id, kind, generation, provider_message_id, reason)
    SELECT row.id, 'duplicate', row.generation, proof.provider_message_id, 'the provider accepted it once more'
    FROM row JOIN proof USING (id) WHERE row.duplicate
    ON CONFLICT (notification_id, provider_message_id) WHERE kind = 'duplicate' DO NOTHING
  ), suppressed AS (
    INSERT INTO owed.suppression (channel, address, cause, detail, notification_id)
    SELECT row.channel, owed.suppression_key(row.channel, row.address), proof.outcome, proof.detail, row.id
    FROM row JOIN proof USING (id)
    WHERE proof.suppress AND row.address IS NOT NULL AND NOT (proof.outcome = 'bounced' AND coalesce(row.duplicate, false))
      AND NOT EXISTS (
        SELECT FROM owed.suppression x
        WHERE x.channel = row.channel AND x.address = ANY (owed.address_keys(row.address)) AND x.lifted_at >= least(proof.at, now()))
    ORDER BY 1, 2, row.id
    ON CONFLICT DO NOTHING
    RETURNING notification_id
  )
  SELECT row.id, coalesce(row.duplicate, false), row.id IN (SELECT notification_id FROM suppressed),
    CASE WHEN row.ended THEN 'known' ELSE 'proven' END
  FROM row
$function$;

CREATE OR REPLACE FUNCTION owed.without(given text, needles text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT regexp_replace(given, needles, '[erased]', 'gi')
$function$;

CREATE TRIGGER pauses_are_kept AFTER UPDATE ON owed.heartbeat FOR EACH ROW WHEN (old.paused_at IS DISTINCT FROM new.paused_at) EXECUTE FUNCTION owed.keep_pause();

CREATE TRIGGER the_end_is_final AFTER UPDATE ON owed.notification FOR EACH ROW WHEN ((old.state = ANY (ARRAY['delivered'::text, 'cancelled'::text])) AND (new.state <> old.state OR new.delivered_at IS DISTINCT FROM old.delivered_at)) EXECUTE FUNCTION owed.refuse_to_leave_the_end();

CREATE TRIGGER the_end_is_final AFTER UPDATE ON owed.notification_archive FOR EACH ROW WHEN ((old.state = ANY (ARRAY['delivered'::text, 'cancelled'::text])) AND (new.state <> old.state OR new.delivered_at IS DISTINCT FROM old.delivered_at)) EXECUTE FUNCTION owed.refuse_to_leave_the_end();

CREATE TRIGGER a_version_is_final BEFORE UPDATE ON owed.rule FOR EACH ROW WHEN (NOT old.active OR (to_jsonb(new.*) - ARRAY['active'::text, 'retired_at'::text, 'retired_by'::text, 'retired_why'::text]) <> (to_jsonb(old.*) - ARRAY['active'::text, 'retired_at'::text, 'retired_by'::text, 'retired_why'::text])) EXECUTE FUNCTION owed.refuse_to_rewrite_a_rule();

CREATE TRIGGER former_address AFTER UPDATE OF address ON owed.subscriber FOR EACH ROW WHEN (old.address <> COALESCE(new.address, ''::text) AND new.erased_at IS NULL) EXECUTE FUNCTION owed.keep_former_address();

CREATE TRIGGER not_a_crowd BEFORE INSERT ON owed.subscriber FOR EACH ROW EXECUTE FUNCTION owed.refuse_crowd();

COMMENT ON COLUMN owed.act.subject IS 'the sweeps, a channel, or a queue with how many of its messages';
COMMENT ON COLUMN owed.backfill.digest IS 'SHA-256 of the file';
COMMENT ON COLUMN owed.channel.closed_until IS 'nothing is leased or sent before; when it has passed, a few rows probe the provider';
COMMENT ON COLUMN owed.channel.evidence_late_at IS 'when the provider''s events were last seen to come late: resends wait';
COMMENT ON COLUMN owed.channel.failures IS 'provider calls that failed one after the other, without an answer that says it works';
COMMENT ON COLUMN owed.channel.openings IS 'how often the breaker has opened since the provider last worked: each time for longer';
COMMENT ON COLUMN owed.channel.provider_tells IS 'its own events say what became of a message; where there are none, an unknown outcome waits for nothing: the receiver knows repeats by the notification''s id';
COMMENT ON COLUMN owed.channel.quota IS 'messages in 24 hours; null: no limit is known';
COMMENT ON COLUMN owed.channel.rate IS 'messages a second that the provider takes; null: no limit is known';
COMMENT ON COLUMN owed.channel.used IS 'of the quota, when the limits were read';
COMMENT ON COLUMN owed.cutover.merchant_id IS 'null: merchants that the ledger first hears of';
COMMENT ON COLUMN owed.erasure.notifications IS 'where the ledger no longer says to which address they went';
COMMENT ON COLUMN owed.erasure.texts IS 'reasons and the like in which something of the person stood';
COMMENT ON COLUMN owed.heartbeat.queue_empty_since IS 'since when consecutive sweeps saw the notification queue report itself empty';
COMMENT ON COLUMN owed.heartbeat.restored_at IS 'when an operator said last that the ledger was put back from a backup';
COMMENT ON COLUMN owed.merchant.mode IS 'who sends: the old sender; the old one while ours is watched (shadow); or Owed';
COMMENT ON COLUMN owed.merchant.tracking_url IS 'a page about the parcel; {tracking_number} stands for its number';
COMMENT ON COLUMN owed.notification.attempts IS 'provider calls started';
COMMENT ON COLUMN owed.notification.cancelled_by IS 'what made it moot: the event, suppression or person, with its id';
COMMENT ON COLUMN owed.notification.evidence IS 'what says that it was sent: the provider''s reply, its own event, an operator, or the old sender';
COMMENT ON COLUMN owed.notification.generation IS 'plus one at each deliberate re-publish: part of the deduplication id';
COMMENT ON COLUMN owed.notification.lease_token IS 'plus one at each lease and claim: fences every later write';
COMMENT ON COLUMN owed.notification.message_id IS 'the SQS message that claimed it last';
COMMENT ON COLUMN owed.notification.mode IS 'the old sender sends it, and it is owed at infinity; null: Owed does';
COMMENT ON COLUMN owed.notification.old_claimed_at IS 'since when the old sender is at work on it';
COMMENT ON COLUMN owed.notification.owed_at IS 'when somebody must look again; null when nobody must';
COMMENT ON COLUMN owed.notification.replays IS 'the delivered notification that an operator sent once more as this one';
COMMENT ON COLUMN owed.notification.shadow_moot IS 'why Owed would not have sent it';
COMMENT ON COLUMN owed.notification.shadow_published_at IS 'when Owed would have published it';
COMMENT ON COLUMN owed.notification.stopped_at IS 'since when it waits for a person';
COMMENT ON COLUMN owed.old_send.notification_id IS 'the row that it was, where the ledger had one by then';
COMMENT ON COLUMN owed.refused_event.body_bytes IS 'size of the whole body; the first 64 KiB are kept';
COMMENT ON COLUMN owed.retention.passed IS 'in this round, every notification up to this one was looked at';
COMMENT ON COLUMN owed.rollout.new_merchants IS 'the mode of a merchant that the ledger first hears of';
COMMENT ON COLUMN owed.rule.at_time IS 'due at the first such time of day, in the recipient''s zone, at or after the delay; null: right after the delay';
COMMENT ON COLUMN owed.rule.delay_s IS 'seconds after the event occurred; 0 is at once';
COMMENT ON COLUMN owed.rule.newest_replaces IS 'not sent once a newer status is owed, or was told, to the same recipient on the same channel';
COMMENT ON COLUMN owed.rule.only_while_current IS 'sent only while the shipment is still in this status';
COMMENT ON COLUMN owed.rule.send_within_s IS 'seconds after the event occurred from which it is too late to send; null: never too late';
COMMENT ON COLUMN owed.rule.silent IS 'tells nobody: a merchant''s own stands in place of the default ones all the same';
COMMENT ON COLUMN owed.subscriber.erased_at IS 'since when nothing is kept here of who it was';
COMMENT ON COLUMN owed.subscriber.recipient_digest IS 'of the recipient''s id before it was erased, where it told who it was';
COMMENT ON COLUMN owed.subscriber.time_zone IS 'by its name in the IANA database; null: the merchant''s';
COMMENT ON FUNCTION owed.record_event(id text, shipment_id text, status text, occurred_at timestamp with time zone) IS 'records an event and its notifications in the caller''s transaction; returns how many are new; raises OW001 when refused';
COMMENT ON TABLE owed.backfill_refusal IS 'lines that were left out; of a file the first 10,000, and never a value';
COMMENT ON TABLE owed.former_address IS 'which addresses a subscriber had before; gone with an erasure';
COMMENT ON TABLE owed.notification_archive IS 'notifications of shipments that are over; a later column of owed.notification is one here too';

GRANT EXECUTE ON FUNCTION owed.address_digest(address text) TO owed_deliver;
GRANT EXECUTE ON FUNCTION owed.address_digest(address text) TO owed_feedback;
GRANT EXECUTE ON FUNCTION owed.address_digest(address text) TO owed_ingest;
GRANT EXECUTE ON FUNCTION owed.address_digest(address text) TO owed_operator;
GRANT EXECUTE ON FUNCTION owed.address_digest(address text) TO owed_reader;
GRANT EXECUTE ON FUNCTION owed.address_digest(address text) TO owed_sweep;
GRANT EXECUTE ON FUNCTION owed.address_key(address text) TO owed_deliver;
GRANT EXECUTE ON FUNCTION owed.address_key(address text) TO owed_feedback;
GRANT EXECUTE ON FUNCTION owed.address_key(address text) TO owed_ingest;
GRANT EXECUTE ON FUNCTION owed.address_key(address text) TO owed_operator;
GRANT EXECUTE ON FUNCTION owed.address_key(address text) TO owed_reader;
GRANT EXECUTE ON FUNCTION owed.address_key(address text) TO owed_sweep;
GRANT EXECUTE ON FUNCTION owed.address_keys(address text) TO owed_deliver;
GRANT EXECUTE ON FUNCTION owed.address_keys(address text) TO owed_feedback;
GRANT EXECUTE ON FUNCTION owed.address_keys(address text) TO owed_ingest;
GRANT EXECUTE ON FUNCTION owed.address_keys(address text) TO owed_operator;
GRANT EXECUTE ON FUNCTION owed.address_keys(address text) TO owed_reader;
GRANT EXECUTE ON FUNCTION owed.address_keys(address text) TO owed_sweep;
GRANT EXECUTE ON FUNCTION owed.backfill_timers(p_digest text, p_from bigint, p_to bigint, p_lines jsonb, p_refusals jsonb) TO owed_operator;
GRANT EXECUTE ON FUNCTION owed.compared(p_merchant_id text, p_since timestamp with time zone, p_until timestamp with time zone) TO owed_operator;
GRANT EXECUTE ON FUNCTION owed.compared(p_merchant_id text, p_since timestamp with time zone, p_until timestamp with time zone) TO owed_reader;
GRANT EXECUTE ON FUNCTION owed.describe_merchant(p_id text, p_tracking_url text, p_time_zone text) TO owed_platform;
GRANT EXECUTE ON FUNCTION owed.erase(p_address text, p_channel text, p_shipment_id text, p_recipient_id text, p_by text, p_why text, p_dry_run boolean) TO owed_operator;
GRANT EXECUTE ON FUNCTION owed.evidence_until(p_channel text, grace double precision) TO owed_deliver;
GRANT EXECUTE ON FUNCTION owed.evidence_until(p_channel text, grace double precision) TO owed_operator;
GRANT EXECUTE ON FUNCTION owed.evidence_until(p_channel text, grace double precision) TO owed_sweep;
GRANT EXECUTE ON FUNCTION owed.fan_out(p_shipment_id text, p_status text, p_occurred_at timestamp with time zone, p_newest boolean, p_now timestamp with time zone) TO owed_operator;
GRANT EXECUTE ON FUNCTION owed.fan_out(p_shipment_id text, p_status text, p_occurred_at timestamp with time zone, p_newest boolean, p_now timestamp with time zone) TO owed_reader;
GRANT EXECUTE ON FUNCTION owed.find_notified(p_by text, p_value text, p_most integer) TO owed_operator;
GRANT EXECUTE ON FUNCTION owed.find_notified(p_by text, p_value text, p_most integer) TO owed_reader;
GRANT EXECUTE ON FUNCTION owed.hear_recipient(p_channel text, p_address text, p_stop boolean, p_said_at timestamp with time zone) TO owed_feedback;
GRANT EXECUTE ON FUNCTION owed.hold_rows(p_merchant_id text, p_mode text, p_after text, p_most integer) TO owed_operator;
GRANT EXECUTE ON FUNCTION owed.judge_timers(p_lines jsonb) TO owed_operator;
GRANT EXECUTE ON FUNCTION owed.load(lost_after double precision, lease double precision) TO owed_operator;
GRANT EXECUTE ON FUNCTION owed.load(lost_after double precision, lease double precision) TO owed_reader;
GRANT EXECUTE ON FUNCTION owed.load(lost_after double precision, lease double precision) TO owed_sweep;
GRANT EXECUTE ON FUNCTION owed.move_held(p_merchant_id text, p_mode text, p_since timestamp with time zone, p_past text, p_after text, p_most integer, p_by text, p_why text) TO owed_operator;
GRANT EXECUTE ON FUNCTION owed.notification_id(event_key uuid, ordinal bigint) TO owed_deliver;
GRANT EXECUTE ON FUNCTION owed.notification_id(event_key uuid, ordinal bigint) TO owed_ingest;
GRANT EXECUTE ON FUNCTION owed.notification_id(event_key uuid, ordinal bigint) TO owed_operator;
GRANT EXECUTE ON FUNCTION owed.notification_id(event_key uuid, ordinal bigint) TO owed_reader;
GRANT EXECUTE ON FUNCTION owed.notification_id(event_key uuid, ordinal bigint) TO owed_sweep;
GRANT EXECUTE ON FUNCTION owed.old_claim(merchant_id text, event_id text, recipient_id text, channel text, template text) TO owed_platform;
GRANT EXECUTE ON FUNCTION owed.old_claim_ends() TO owed_operator;
GRANT EXECUTE ON FUNCTION owed.old_claim_ends() TO owed_reader;
GRANT EXECUTE ON FUNCTION owed.old_due(most integer, within interval) TO owed_platform;
GRANT EXECUTE ON FUNCTION owed.old_gave_up(merchant_id text, event_id text, recipient_id text, channel text, template text, reason text) TO owed_platform;
GRANT EXECUTE ON FUNCTION owed.old_sent(merchant_id text, event_id text, recipient_id text, channel text, template text, provider text, provider_message_id text, sent_at timestamp with time zone) TO owed_platform;
GRANT EXECUTE ON FUNCTION owed.opt_out(p_shipment_id text, p_recipient_id text, p_channel text) TO owed_platform;
GRANT EXECUTE ON FUNCTION owed.rank(outcome text) TO owed_deliver;
GRANT EXECUTE ON FUNCTION owed.rank(outcome text) TO owed_feedback;
GRANT EXECUTE ON FUNCTION owed.record_event(id text, shipment_id text, status text, occurred_at timestamp with time zone) TO owed_platform;
GRANT EXECUTE ON FUNCTION owed.refuse(field text, reason text) TO owed_operator;
GRANT EXECUTE ON FUNCTION owed.register_shipment(p_id text, p_merchant_id text, p_merchant_name text, p_tracking_number text) TO owed_platform;
GRANT EXECUTE ON FUNCTION owed.retain(p_days integer, p_refused_days integer, p_most integer) TO owed_operator;
GRANT EXECUTE ON FUNCTION owed.retain(p_days integer, p_refused_days integer, p_most integer) TO owed_sweep;
GRANT EXECUTE ON FUNCTION owed.set_mode(p_merchant_id text, p_mode text, p_unheard_too boolean, p_dry_run boolean, p_by text, p_why text) TO owed_operator;
GRANT EXECUTE ON FUNCTION owed.set_new_merchants(p_mode text, p_unheard_too boolean, p_dry_run boolean, p_by text, p_why text) TO owed_operator;
GRANT EXECUTE ON FUNCTION owed.set_rule(p_merchant_id text, p_status text, p_role text, p_channel text, p_template text, p_delay_s integer, p_at_time time without time zone, p_send_within_s integer, p_only_while_current boolean, p_newest_replaces boolean, p_on_unknown text, p_by text, p_why text, p_silent boolean, p_dry_run boolean) TO owed_operator;
GRANT EXECUTE ON FUNCTION owed.subscribe(p_shipment_id text, p_recipient_id text, p_role text, p_channel text, p_address text, p_name text, p_locale text, p_time_zone text) TO owed_platform;
GRANT EXECUTE ON FUNCTION owed.suppression_key(p_channel text, p_address text) TO owed_deliver;
GRANT EXECUTE ON FUNCTION owed.suppression_key(p_channel text, p_address text) TO owed_feedback;
GRANT EXECUTE ON FUNCTION owed.time_to_drain(c owed.channel, due bigint, in_queue bigint) TO owed_operator;
GRANT EXECUTE ON FUNCTION owed.time_to_drain(c owed.channel, due bigint, in_queue bigint) TO owed_reader;
GRANT EXECUTE ON FUNCTION owed.time_to_drain(c owed.channel, due bigint, in_queue bigint) TO owed_sweep;
GRANT EXECUTE ON FUNCTION owed.timer_event_id(shipment_id text, status text, occurred_at timestamp with time zone) TO owed_platform;
GRANT EXECUTE ON FUNCTION owed.try_record_event(p_id text, p_shipment_id text, p_status text, p_occurred_at timestamp with time zone) TO owed_ingest;
GRANT EXECUTE ON FUNCTION owed.try_record_event(p_id text, p_shipment_id text, p_status text, p_occurred_at timestamp with time zone) TO owed_operator;
GRANT EXECUTE ON FUNCTION owed.weigh_archived(p_ids uuid[], p_ats timestamp with time zone[], p_providers text[], p_message_ids text[], p_outcomes text[], p_details text[], p_suppress boolean[], p_evidence text[]) TO owed_deliver;
GRANT EXECUTE ON FUNCTION owed.weigh_archived(p_ids uuid[], p_ats timestamp with time zone[], p_providers text[], p_message_ids text[], p_outcomes text[], p_details text[], p_suppress boolean[], p_evidence text[]) TO owed_feedback;
GRANT USAGE ON SCHEMA owed TO owed_deliver;
GRANT USAGE ON SCHEMA owed TO owed_feedback;
GRANT USAGE ON SCHEMA owed TO owed_ingest;
GRANT USAGE ON SCHEMA owed TO owed_operator;
GRANT USAGE ON SCHEMA owed TO owed_platform;
GRANT USAGE ON SCHEMA owed TO owed_reader;
GRANT USAGE ON SCHEMA owed TO owed_sweep;
GRANT INSERT (actor, did, subject, why), SELECT ON owed.act TO owed_operator;
GRANT SELECT ON owed.act TO owed_reader;
GRANT INSERT (notification_id, kind, generation, message_id, provider_message_id, actor, reason), SELECT (notification_id, kind, provider_message_id) ON owed.attempt TO owed_deliver;
GRANT INSERT (notification_id, kind, generation, provider_message_id, reason), SELECT (notification_id, kind, provider_message_id) ON owed.attempt TO owed_feedback;
GRANT INSERT (notification_id, at, kind, generation, actor, reason), SELECT ON owed.attempt TO owed_operator;
GRANT SELECT ON owed.attempt TO owed_reader;
GRANT INSERT (notification_id, kind, generation, reason) ON owed.attempt TO owed_sweep;
GRANT INSERT (digest, name, mode, actor), SELECT, UPDATE (finished_at) ON owed.backfill TO owed_operator;
GRANT SELECT ON owed.backfill TO owed_reader;
GRANT SELECT ON owed.backfill_refusal TO owed_operator;
GRANT SELECT ON owed.backfill_refusal TO owed_reader;
GRANT SELECT, UPDATE (failures, openings, closed_at, closed_until, closed_for, closed_why, evidence_late_at) ON owed.channel TO owed_deliver;
GRANT SELECT (name, evidence_late_at), UPDATE (evidence_late_at) ON owed.channel TO owed_feedback;
GRANT SELECT (name, rate, quota, used, openings, closed_until) ON owed.channel TO owed_ingest;
GRANT SELECT, UPDATE (rate, quota, used, limits_read_at, failures, openings, closed_at, closed_until, closed_for, closed_why) ON owed.channel TO owed_operator;
GRANT SELECT ON owed.channel TO owed_reader;
GRANT SELECT, UPDATE (rate, quota, used, limits_read_at, closed_at, closed_until, closed_for, closed_why) ON owed.channel TO owed_sweep;
GRANT INSERT ON owed.claim_mark TO owed_deliver;
GRANT SELECT ON owed.claim_mark TO owed_operator;
GRANT SELECT ON owed.claim_mark TO owed_sweep;
GRANT SELECT ON owed.cutover TO owed_operator;
GRANT SELECT ON owed.cutover TO owed_reader;
GRANT SELECT ON owed.erasure TO owed_operator;
GRANT SELECT ON owed.erasure TO owed_reader;
GRANT SELECT (key, shipment_id, status, occurred_at) ON owed.event TO owed_deliver;
GRANT SELECT (key, id, shipment_id, occurred_at) ON owed.event TO owed_ingest;
GRANT SELECT ON owed.event TO owed_operator;
GRANT SELECT ON owed.event TO owed_reader;
GRANT SELECT (key, id, shipment_id, occurred_at) ON owed.event TO owed_sweep;
GRANT SELECT (restored_at) ON owed.heartbeat TO owed_deliver;
GRANT SELECT (paused_at, beat_at) ON owed.heartbeat TO owed_ingest;
GRANT SELECT, UPDATE (holder, held_until, paused_at, paused_by, paused_why, queue_empty_since, beat_at, beating_since, restored_at) ON owed.heartbeat TO owed_operator;
GRANT SELECT ON owed.heartbeat TO owed_reader;
GRANT SELECT, UPDATE (holder, held_until, queue_empty_since, beat_at, beating_since) ON owed.heartbeat TO owed_sweep;
GRANT SELECT ON owed.merchant TO owed_deliver;
GRANT SELECT ON owed.merchant TO owed_operator;
GRANT SELECT ON owed.merchant TO owed_reader;
GRANT SELECT ON owed.moot TO owed_deliver;
GRANT SELECT ON owed.moot TO owed_ingest;
GRANT SELECT ON owed.moot TO owed_operator;
GRANT SELECT ON owed.moot TO owed_reader;
GRANT SELECT ON owed.moot TO owed_sweep;
GRANT SELECT (id, event_key, due_at, subscriber_id, rule_id, channel, message_id, sent_to, leased_until, queued_at, claimed_at, died_at, stopped_at, cancelled_at, lease_token, generation, attempts, owed_at, delivered_at, state, outcome, provider, provider_message_id, evidence, reason, mode), UPDATE (message_id, sent_to, leased_until, queued_at, claimed_at, died_at, stopped_at, cancelled_at, lease_token, generation, attempts, owed_at, delivered_at, state, outcome, provider, provider_message_id, evidence, reason, cancelled_by) ON owed.notification TO owed_deliver;
GRANT SELECT (id, subscriber_id, channel, sent_to, cancelled_at, lease_token, generation, delivered_at, state, outcome, provider, provider_message_id, evidence, reason), UPDATE (died_at, stopped_at, cancelled_at, lease_token, owed_at, delivered_at, state, outcome, provider, provider_message_id, evidence, reason) ON owed.notification TO owed_feedback;
GRANT SELECT (id, event_key, due_at, subscriber_id, channel, leased_until, lease_token, generation, owed_at, state, reason), UPDATE (leased_until, queued_at, cancelled_at, lease_token, owed_at, state, reason, cancelled_by) ON owed.notification TO owed_ingest;
GRANT INSERT (id, event_key, due_at, replays, subscriber_id, rule_id, channel, owed_at), SELECT, SELECT (cancelled_by, mode, shadow_published_at, shadow_moot), UPDATE (leased_until, queued_at, died_at, stopped_at, cancelled_at, lease_token, generation, rescues, resends, owed_at, delivered_at, state, outcome, evidence, reason, cancelled_by, shadow_published_at, shadow_moot) ON owed.notification TO owed_operator;
GRANT SELECT ON owed.notification TO owed_reader;
GRANT SELECT (id, event_key, due_at, subscriber_id, rule_id, channel, leased_until, queued_at, lease_token, generation, rescues, resends, owed_at, state, reason, cancelled_by, mode, shadow_published_at, shadow_moot), UPDATE (leased_until, queued_at, stopped_at, cancelled_at, lease_token, generation, rescues, resends, owed_at, state, reason, cancelled_by, shadow_published_at, shadow_moot) ON owed.notification TO owed_sweep;
GRANT SELECT ON owed.notification_archive TO owed_operator;
GRANT SELECT ON owed.notification_archive TO owed_reader;
GRANT SELECT ON owed.notification_ever TO owed_operator;
GRANT SELECT ON owed.notification_ever TO owed_reader;
GRANT SELECT ON owed.old_send TO owed_operator;
GRANT SELECT ON owed.old_send TO owed_reader;
GRANT SELECT ON owed.pause TO owed_operator;
GRANT SELECT ON owed.pause TO owed_reader;
GRANT INSERT (message_id, field, reason, body, body_bytes, queue), SELECT (message_id) ON owed.refused_event TO owed_feedback;
GRANT INSERT (message_id, field, reason, body, body_bytes, queue), SELECT (message_id) ON owed.refused_event TO owed_ingest;
GRANT SELECT, UPDATE (retried_at, retried_by) ON owed.refused_event TO owed_operator;
GRANT SELECT ON owed.refused_event TO owed_reader;
GRANT SELECT ON owed.retention TO owed_operator;
GRANT SELECT ON owed.retention TO owed_reader;
GRANT SELECT ON owed.retention TO owed_sweep;
GRANT SELECT ON owed.rollout TO owed_operator;
GRANT SELECT ON owed.rollout TO owed_reader;
GRANT SELECT (id, template) ON owed.rule TO owed_deliver;
GRANT INSERT (merchant_id, status, role, channel, template, delay_s, send_within_s, only_while_current, newest_replaces, on_unknown, at_time, silent, version, replaces, set_by, set_why), SELECT, UPDATE (active, retired_at, retired_by, retired_why) ON owed.rule TO owed_operator;
GRANT SELECT ON owed.rule TO owed_reader;
GRANT SELECT (id, newest_replaces, on_unknown) ON owed.rule TO owed_sweep;
GRANT SELECT (id, merchant_id, tracking_number) ON owed.shipment TO owed_deliver;
GRANT SELECT (id, merchant_id, status_at) ON owed.shipment TO owed_operator;
GRANT SELECT ON owed.shipment TO owed_reader;
GRANT SELECT ON owed.status TO owed_operator;
GRANT SELECT ON owed.status TO owed_reader;
GRANT SELECT (id, role, address, name, locale, time_zone) ON owed.subscriber TO owed_deliver;
GRANT SELECT (id, address) ON owed.subscriber TO owed_feedback;
GRANT SELECT (id, shipment_id, recipient_id, role, channel, time_zone) ON owed.subscriber TO owed_operator;
GRANT SELECT (id, shipment_id, recipient_id, role, channel, locale, opted_out_at, created_at, time_zone) ON owed.subscriber TO owed_reader;
GRANT INSERT (channel, address, cause, detail, notification_id), SELECT (channel, address, notification_id, lifted_at) ON owed.suppression TO owed_deliver;
GRANT INSERT (channel, address, cause, detail, notification_id, suppressed_at, lifted_at, lifted_by, lifted_why), SELECT (channel, address, cause, notification_id, suppressed_at, lifted_at), UPDATE (cause, suppressed_at, lifted_at, lifted_by, lifted_why) ON owed.suppression TO owed_feedback;
GRANT SELECT, UPDATE (lifted_at, lifted_by, lifted_why) ON owed.suppression TO owed_operator;
GRANT SELECT ON owed.suppression TO owed_reader;
GRANT INSERT (started_at), SELECT, UPDATE (finished_at, leased, published, failed, cancelled, rescued, unknown, resent, owed, oldest_owed_s, time_to_drain_s) ON owed.sweep_run TO owed_operator;
GRANT SELECT ON owed.sweep_run TO owed_reader;
GRANT INSERT (started_at), SELECT, UPDATE (finished_at, leased, published, failed, cancelled, rescued, unknown, resent, owed, oldest_owed_s, time_to_drain_s) ON owed.sweep_run TO owed_sweep;
GRANT SELECT ON owed.telling TO owed_deliver;
