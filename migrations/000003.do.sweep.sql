-- The heartbeat: one row that a sweep takes, and the history that an outage report reads.

CREATE TABLE owed.heartbeat (
  one               boolean PRIMARY KEY DEFAULT true CHECK (one),
  holder            bigint,
  held_until        timestamptz,
  paused_at         timestamptz,
  paused_by         text,
  paused_why        text,
  queue_empty_since timestamptz,
  CHECK ((holder IS NULL) = (held_until IS NULL)),
  CHECK ((paused_at IS NULL) = (paused_by IS NULL))
);
INSERT INTO owed.heartbeat DEFAULT VALUES;
COMMENT ON COLUMN owed.heartbeat.queue_empty_since IS 'since when consecutive sweeps saw the notification queue report itself empty';

CREATE TABLE owed.sweep_run (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  started_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  finished_at   timestamptz,
  leased        integer,
  published     integer,
  failed        integer,
  cancelled     integer,
  rescued       integer,
  unknown       integer,
  resent        integer,
  owed          integer,
  oldest_owed_s double precision
);
CREATE INDEX sweep_run_started ON owed.sweep_run (started_at);

-- At most one row a minute: a message queued at `queued_at` was claimed in that minute. A row queued well
-- before it whose own message never came is lost, not waiting.
CREATE TABLE owed.claim_mark (
  minute    timestamptz PRIMARY KEY,
  queued_at timestamptz NOT NULL
);
