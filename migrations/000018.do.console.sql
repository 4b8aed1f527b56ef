-- What the operators' page asks: whom a support agent may mean, by a recipient's id, an address, or a provider's message id.

SELECT owed.lock_tables('owed.subscriber', 'owed.notification');

CREATE INDEX subscriber_recipient ON owed.subscriber (recipient_id, id);
CREATE INDEX subscriber_erased ON owed.subscriber (recipient_digest, id) WHERE recipient_digest IS NOT NULL;
-- What `owed.same_address` compares first: nothing in it is a function that a migration may change, which no index would hear of.
CREATE INDEX subscriber_address ON owed.subscriber (translate(lower(btrim(address)), ' ()./-', ''), id) WHERE address IS NOT NULL;

-- Some bits for each message of two pages say where to look; vacuum writes them down for pages that are new, and until then a
-- search reads those. A delivery whose page has its bits already writes them anew, 0.1 KB of log for each index, so few pages
-- and no summary before vacuum's: nearly all is delivered by then. With the 128 pages that are the default it would be 4 KB. A
-- B-tree has each delivery write to a page of its own, 2 KB more for each index after a checkpoint, and keeps the claim from
-- leaving the row's other indexes alone.
CREATE INDEX notification_message ON owed.notification
  USING brin (provider_message_id text_bloom_ops (n_distinct_per_range = 40, false_positive_rate = 0.005))
  WITH (pages_per_range = 2);
CREATE INDEX notification_sent_to ON owed.notification
  USING brin (translate(lower(btrim(sent_to)), ' ()./-', '') text_bloom_ops (n_distinct_per_range = 40, false_positive_rate = 0.005))
  WITH (pages_per_range = 2);
CREATE INDEX notification_archive_message ON owed.notification_archive
  USING brin (provider_message_id text_bloom_ops (n_distinct_per_range = 1000, false_positive_rate = 0.001))
  WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX notification_archive_sent_to ON owed.notification_archive
  USING brin (translate(lower(btrim(sent_to)), ' ()./-', '') text_bloom_ops (n_distinct_per_range = 1000, false_positive_rate = 0.001))
  WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX attempt_message ON owed.attempt (provider_message_id) WHERE provider_message_id IS NOT NULL;
CREATE INDEX old_send_message ON owed.old_send (provider_message_id) WHERE provider_message_id IS NOT NULL;

-- Which part of the table may have what fell due in some hours is known at once, not only after the next vacuum.
ALTER INDEX owed.notification_due SET (autosummarize = on);
ALTER INDEX owed.notification_archive_due SET (autosummarize = on);

-- The subscriptions that are meant, the newest ones and once or more, and the notification with that message id. It compares
-- addresses, and tells none: who looks may know one, and ask for it. Who was erased is still known by the id given before.
-- Without seqscan: the planner takes a message id for one that is on every page.
CREATE FUNCTION owed.find_notified(p_by text, p_value text, p_most integer)
RETURNS TABLE (subscriber_id bigint, notification_id uuid)
LANGUAGE plpgsql STABLE ROWS 20 SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
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
    -- Where messages went, only if there is room: a shop's URL stands on every other row.
    IF v_found < v_most THEN
      RETURN QUERY
        SELECT n.subscriber_id, NULL::uuid FROM owed.notification_ever n WHERE owed.same_address(n.sent_to, p_value) LIMIT 10000;
    END IF;
  END IF;
END $$;

REVOKE EXECUTE ON FUNCTION owed.find_notified FROM PUBLIC;
GRANT EXECUTE ON FUNCTION owed.find_notified TO owed_operator, owed_reader;
GRANT SELECT ON owed.notification_archive TO owed_operator, owed_reader;
GRANT SELECT (shipment_id, channel) ON owed.subscriber TO owed_operator;

-- Who did what and why, where no row of the ledger has a place for it.
CREATE TABLE owed.act (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  actor text NOT NULL,
  did text NOT NULL CHECK (did IN ('paused', 'resumed', 'closed', 'opened', 'redrove', 'gave_back')),
  subject text NOT NULL,
  why text
);
COMMENT ON COLUMN owed.act.subject IS 'the sweeps, a channel, or a queue with how many of its messages';
GRANT INSERT (actor, did, subject, why), SELECT ON owed.act TO owed_operator;
GRANT SELECT ON owed.act TO owed_reader;
