-- ingest publishes what it has just recorded: it leases, marks and releases as the sweep does, and takes no look.

GRANT SELECT (id, event_key, due_at, subscriber_id, channel, leased_until, lease_token, generation, owed_at, state, reason),
  UPDATE (leased_until, queued_at, cancelled_at, cancelled_by, lease_token, owed_at, state, reason)
  ON owed.notification TO owed_ingest;
GRANT SELECT (key, id, shipment_id, occurred_at) ON owed.event TO owed_ingest;
GRANT SELECT (name, rate, quota, used, openings, closed_until) ON owed.channel TO owed_ingest;
GRANT SELECT (paused_at, beat_at) ON owed.heartbeat TO owed_ingest;
GRANT SELECT ON owed.moot TO owed_ingest;
GRANT EXECUTE ON FUNCTION owed.notification_id, owed.address_key, owed.address_keys, owed.address_digest TO owed_ingest;
