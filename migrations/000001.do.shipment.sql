-- What the platform tells us: merchants, shipments, who watches them, and what is to be told to whom.
-- Everything lives in the schema `owed`, so that it can share a database with the platform's own tables
-- and its transactions.

CREATE TABLE owed.status (
  name text PRIMARY KEY CHECK (name ~ '^[a-z][a-z_]{0,39}$')
);

CREATE TABLE owed.channel (
  name text PRIMARY KEY CHECK (name ~ '^[a-z][a-z_]{0,19}$')
);

CREATE TABLE owed.merchant (
  id   text PRIMARY KEY CHECK (id ~ '^[A-Za-z0-9._:-]{1,64}$'),
  name text NOT NULL CHECK (name !~ '[[:cntrl:]]' AND length(name) BETWEEN 1 AND 200)
);

-- The current status is the one with the greatest (occurred_at, event id), whatever order the events came in.
CREATE TABLE owed.shipment (
  id              text PRIMARY KEY CHECK (id ~ '^[A-Za-z0-9._:-]{1,64}$'),
  merchant_id     text NOT NULL REFERENCES owed.merchant,
  tracking_number text NOT NULL CHECK (tracking_number !~ '[[:cntrl:]]' AND length(tracking_number) BETWEEN 1 AND 64),
  created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  status          text REFERENCES owed.status,
  status_at       timestamptz,
  status_event_id text,
  CHECK ((status IS NULL) = (status_at IS NULL) AND (status IS NULL) = (status_event_id IS NULL))
) WITH (fillfactor = 80);

-- `key` is a time-ordered uuid whose last sixteen bits are zero: the ids of the event's notifications are the
-- key plus an ordinal, so the primary key of `notification` finds all rows of an event without an index more.
CREATE TABLE owed.event (
  key         uuid PRIMARY KEY,
  id          text NOT NULL UNIQUE CHECK (id ~ '^[A-Za-z0-9._:-]{1,128}$'),
  shipment_id text NOT NULL REFERENCES owed.shipment,
  status      text NOT NULL REFERENCES owed.status,
  occurred_at timestamptz NOT NULL,
  recorded_at timestamptz NOT NULL
);
CREATE INDEX event_shipment ON owed.event (shipment_id, occurred_at, id);

-- One row a shipment, recipient and channel: this is also the message group, whose order a person would notice.
-- A missing address is allowed here and told at fan-out (`dead`, no_address): nothing owed is dropped silently.
CREATE TABLE owed.subscriber (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  shipment_id  text NOT NULL REFERENCES owed.shipment,
  recipient_id text NOT NULL CHECK (recipient_id ~ '^[A-Za-z0-9._:@-]{1,64}$'),
  role         text NOT NULL CHECK (role IN ('buyer', 'merchant', 'agent', 'warehouse')),
  channel      text NOT NULL REFERENCES owed.channel,
  address      text CHECK (address !~ '[[:cntrl:]]' AND length(address) <= 320),
  name         text CHECK (name !~ '[[:cntrl:]]' AND length(name) <= 200),
  locale       text NOT NULL DEFAULT 'en' CHECK (locale ~ '^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$'),
  opted_out_at timestamptz,
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (shipment_id, recipient_id, channel)
);

-- Which status tells which role on which channel: at once or after a delay, until when, and what an unknown
-- outcome leads to. A merchant's own rules for a status, role and channel stand in place of the default ones.
CREATE TABLE owed.rule (
  id                 bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  merchant_id        text REFERENCES owed.merchant,
  status             text NOT NULL REFERENCES owed.status,
  role               text NOT NULL CHECK (role IN ('buyer', 'merchant', 'agent', 'warehouse')),
  channel            text NOT NULL REFERENCES owed.channel,
  template           text NOT NULL CHECK (template ~ '^[a-z][a-z_.]{0,59}$'),
  delay_s            integer NOT NULL DEFAULT 0 CHECK (delay_s BETWEEN 0 AND 366 * 86400),
  send_within_s      integer CHECK (send_within_s > delay_s),
  only_while_current boolean NOT NULL DEFAULT false,
  newest_replaces    boolean NOT NULL DEFAULT true,
  on_unknown         text NOT NULL DEFAULT 'resend' CHECK (on_unknown IN ('resend', 'hold')),
  active             boolean NOT NULL DEFAULT true
);
CREATE UNIQUE INDEX rule_once ON owed.rule (status, role, channel, template, merchant_id) NULLS NOT DISTINCT WHERE active;

COMMENT ON COLUMN owed.rule.delay_s IS 'seconds after the event occurred; 0 is at once';
COMMENT ON COLUMN owed.rule.send_within_s IS 'seconds after the event occurred from which it is too late to send; null: never too late';
COMMENT ON COLUMN owed.rule.only_while_current IS 'sent only while the shipment is still in this status';
COMMENT ON COLUMN owed.rule.newest_replaces IS 'not sent once a newer status was delivered to the same recipient on the same channel';

INSERT INTO owed.status VALUES
  ('picked_up'), ('customs_hold'), ('customs_released'), ('out_for_delivery'),
  ('delivery_exception'), ('delivered'), ('returned');
INSERT INTO owed.channel VALUES ('email');
INSERT INTO owed.rule (status, role, channel, template, delay_s, send_within_s, only_while_current)
SELECT status, role, 'email', template, delay_s, send_within_s, only_while_current
FROM (VALUES
  ('picked_up',          'buyer',     'picked_up',          0,     2 * 86400, false),
  ('customs_hold',       'buyer',     'customs_hold',       0,     7 * 86400, false),
  ('customs_hold',       'merchant',  'customs_hold',       0,     7 * 86400, false),
  ('customs_hold',       'agent',     'customs_hold',       0,     7 * 86400, false),
  ('customs_hold',       'buyer',     'customs_hold.still', 86400, 7 * 86400, true),
  ('customs_hold',       'agent',     'customs_hold.still', 86400, 7 * 86400, true),
  ('customs_released',   'buyer',     'customs_released',   0,     3 * 86400, false),
  ('out_for_delivery',   'buyer',     'out_for_delivery',   0,     86400,     false),
  ('delivery_exception', 'buyer',     'delivery_exception', 0,     3 * 86400, false),
  ('delivery_exception', 'merchant',  'delivery_exception', 0,     7 * 86400, false),
  ('delivery_exception', 'agent',     'delivery_exception', 0,     7 * 86400, false),
  ('delivery_exception', 'warehouse', 'delivery_exception', 0,     3 * 86400, false),
  ('delivered',          'buyer',     'delivered',          0,     7 * 86400, false),
  ('delivered',          'merchant',  'delivered',          0,     7 * 86400, false),
  ('returned',           'merchant',  'returned',           0,     7 * 86400, false),
  ('returned',           'warehouse', 'returned',           0,     7 * 86400, false)
) AS default_rule (status, role, template, delay_s, send_within_s, only_while_current);
