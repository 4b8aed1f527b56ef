-- What the ledger is asked, out of the way of what it does: each delivery wrote to two indexes more, for addresses and message
-- ids that are looked for some times a day. An address that a subscriber has no more is kept when it is corrected, which is
-- seldom; a message id is found in a tree whose newest page is the one that is written to, as far as a provider's ids grow.

-- In the order in which the platform's transactions and the workers take them: what is under way comes to its end meanwhile.
SELECT owed.lock_tables('owed.shipment', 'owed.notification', 'owed.subscriber', 'owed.notification_archive');

CREATE TABLE owed.former_address (
  subscriber_id bigint NOT NULL REFERENCES owed.subscriber ON DELETE CASCADE,
  address       text NOT NULL,
  PRIMARY KEY (subscriber_id, address)
);
COMMENT ON TABLE owed.former_address IS 'which addresses a subscriber had before; gone with an erasure';
-- As subscriber_address.
CREATE INDEX former_address_found ON owed.former_address (translate(lower(btrim(address)), ' ()./-', ''), subscriber_id);

CREATE FUNCTION owed.keep_former_address() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO owed.former_address (subscriber_id, address) VALUES (OLD.id, OLD.address) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION owed.keep_former_address FROM PUBLIC;
CREATE TRIGGER former_address AFTER UPDATE OF address ON owed.subscriber FOR EACH ROW
  WHEN (OLD.address <> coalesce(NEW.address, '') AND NEW.erased_at IS NULL) EXECUTE FUNCTION owed.keep_former_address();

INSERT INTO owed.former_address (subscriber_id, address)
SELECT DISTINCT n.subscriber_id, n.sent_to
FROM owed.notification_ever n JOIN owed.subscriber s ON s.id = n.subscriber_id
WHERE n.sent_to <> coalesce(s.address, '');

DROP INDEX owed.notification_message, owed.notification_sent_to, owed.notification_archive_sent_to;
CREATE INDEX notification_message ON owed.notification (provider_message_id) WHERE provider_message_id IS NOT NULL;

-- As in migration 18, but for an address of before.
CREATE OR REPLACE FUNCTION owed.find_notified(p_by text, p_value text, p_most integer)
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
    IF v_found < v_most THEN
      RETURN QUERY
        SELECT f.subscriber_id, NULL::uuid FROM owed.former_address f
        WHERE owed.same_address(f.address, p_value) ORDER BY f.subscriber_id DESC LIMIT v_most;
    END IF;
  END IF;
END $$;

ALTER TABLE owed.erasure ADD COLUMN former_addresses integer NOT NULL DEFAULT 0;

CREATE OR REPLACE FUNCTION owed.addresses_of(p_people bigint[], p_rows uuid[], p_address text) RETURNS text[] LANGUAGE sql STABLE AS $$
  SELECT coalesce(array_agg(DISTINCT btrim(given.address)), '{}')
  FROM (
    SELECT p_address AS address
    UNION ALL SELECT s.address FROM owed.subscriber s WHERE s.id = ANY (p_people)
    UNION ALL SELECT f.address FROM owed.former_address f WHERE f.subscriber_id = ANY (p_people)
    UNION ALL SELECT n.sent_to FROM owed.notification_ever n WHERE n.id = ANY (p_rows)
  ) AS given WHERE btrim(given.address) <> ''
$$;

-- Who had an address before.
CREATE FUNCTION owed.had_address(p_address text, p_channel text) RETURNS bigint[] LANGUAGE sql STABLE AS $$
  SELECT ARRAY(
    SELECT DISTINCT f.subscriber_id FROM owed.former_address f JOIN owed.subscriber s ON s.id = f.subscriber_id
    WHERE owed.same_address(f.address, p_address) AND coalesce(s.channel = p_channel, true))
$$;
REVOKE EXECUTE ON FUNCTION owed.had_address FROM PUBLIC;

-- As in migration 13, with the addresses of before: a person's own; and by an address, what is kept of it beside whoever has
-- another one now, and stays.
DROP FUNCTION owed.erase;
CREATE FUNCTION owed.erase(p_address text, p_channel text, p_shipment_id text, p_recipient_id text, p_by text, p_why text,
  p_dry_run boolean)
RETURNS TABLE (id bigint, known boolean, subscribers integer, notifications integer, cancelled integer, suppressions integer,
  refused_events integer, texts integer, former_addresses integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
END $$;
REVOKE EXECUTE ON FUNCTION owed.erase FROM PUBLIC;
GRANT EXECUTE ON FUNCTION owed.erase TO owed_operator;
