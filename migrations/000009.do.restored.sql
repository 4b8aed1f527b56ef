-- When the ledger was put back from a backup. What had stopped by then may have been sent since, and the ledger has
-- forgotten it: whoever replays it sends a possible duplicate.

ALTER TABLE owed.heartbeat ADD COLUMN restored_at timestamptz;
COMMENT ON COLUMN owed.heartbeat.restored_at IS 'when an operator said last that the ledger was put back from a backup';
