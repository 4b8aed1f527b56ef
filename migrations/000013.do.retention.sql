-- History that is over goes to an archive, which whoever asks still reads; what the sweeps read stays small. What is kept of
-- a person can be erased; that something was sent, when and on what evidence, stays. And the pauses, for a report about them.

SELECT owed.lock_tables('owed.notification', 'owed.attempt', 'owed.heartbeat', 'owed.suppression', 'owed.moot');

-- The ids stay those of one notification, here or in the archive; a constraint would keep it here, and look for it at each move.
ALTER TABLE owed.attempt DROP CONSTRAINT attempt_notification_id_fkey;
ALTER TABLE owed.suppression DROP CONSTRAINT suppression_notification_id_fkey;
ALTER TABLE owed.notification DROP CONSTRAINT notification_replays_fkey;

-- What fell due in an outage is found by its time. `due_at` never changes, and a range's few intervals tell a follow-up's day
-- from its event's: some bytes for hundreds of rows, where a B-tree has an entry for each.
CREATE INDEX notification_due ON owed.notification USING brin (due_at timestamptz_minmax_multi_ops);

CREATE TABLE owed.notification_archive (LIKE owed.notification INCLUDING DEFAULTS INCLUDING CONSTRAINTS, PRIMARY KEY (id));
CREATE INDEX notification_archive_due ON owed.notification_archive USING brin (due_at timestamptz_minmax_multi_ops);
COMMENT ON TABLE owed.notification_archive IS 'notifications of shipments that are over; a later column of owed.notification is one here too';
CREATE TRIGGER the_end_is_final AFTER UPDATE ON owed.notification_archive FOR EACH ROW
  WHEN (OLD.state IN ('delivered', 'cancelled')
        AND (NEW.state <> OLD.state OR NEW.delivered_at IS DISTINCT FROM OLD.delivered_at))
  EXECUTE FUNCTION owed.refuse_to_leave_the_end();

CREATE VIEW owed.notification_ever AS SELECT * FROM owed.notification UNION ALL SELECT * FROM owed.notification_archive;

-- How far the archive has come: what it left behind was not over then, and is looked at again in the next round.
CREATE TABLE owed.retention (
  one         boolean PRIMARY KEY DEFAULT true CHECK (one),
  passed      uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  round_since timestamptz NOT NULL DEFAULT now(),
  next_at     timestamptz NOT NULL DEFAULT now() + interval '1 hour'
);
INSERT INTO owed.retention DEFAULT VALUES;
COMMENT ON COLUMN owed.retention.passed IS 'in this round, every notification up to this one was looked at';

-- One step of it, of about `p_most` rows: moves the notifications of shipments that are over, all of a shipment's at once, so
-- that a newer one is never missed by what it makes untrue. Over is what ended more than `p_days` ago and nobody can move
-- any more: delivered, cancelled, or dead and past its deadline. `more`: there is more to do at once; else again in an hour.
CREATE FUNCTION owed.retain(p_days integer, p_refused_days integer, p_most integer)
RETURNS TABLE (moved integer, refused integer, more boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
END $$;

-- Evidence about archived notifications, weighed as about the others (see record-evidence): a complaint comes months later.
CREATE FUNCTION owed.weigh_archived(p_ids uuid[], p_ats timestamptz[], p_providers text[], p_message_ids text[], p_outcomes text[],
  p_details text[], p_suppress boolean[], p_evidence text[])
RETURNS TABLE (id uuid, duplicate boolean, suppressed boolean, result text)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
$$;

-- Who paused the sweeps, when and why: the heartbeat knows the present pause alone.
CREATE TABLE owed.pause (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  paused_at  timestamptz NOT NULL,
  paused_by  text NOT NULL,
  paused_why text,
  resumed_at timestamptz
);
CREATE INDEX pause_open ON owed.pause (id) WHERE resumed_at IS NULL;
INSERT INTO owed.pause (paused_at, paused_by, paused_why)
SELECT paused_at, paused_by, paused_why FROM owed.heartbeat WHERE paused_at IS NOT NULL;

CREATE FUNCTION owed.keep_pause() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE owed.pause SET resumed_at = clock_timestamp() WHERE resumed_at IS NULL;
  IF NEW.paused_at IS NOT NULL THEN
    INSERT INTO owed.pause (paused_at, paused_by, paused_why) VALUES (NEW.paused_at, NEW.paused_by, NEW.paused_why);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER pauses_are_kept AFTER UPDATE ON owed.heartbeat FOR EACH ROW
  WHEN (OLD.paused_at IS DISTINCT FROM NEW.paused_at) EXECUTE FUNCTION owed.keep_pause();

-- What was erased, for whom it must be shown, and nothing of whom.
CREATE TABLE owed.erasure (
  id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  erased_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  erased_by      text NOT NULL,
  why            text NOT NULL,
  subscribers    integer NOT NULL,
  notifications  integer NOT NULL,
  cancelled      integer NOT NULL,
  suppressions   integer NOT NULL,
  refused_events integer NOT NULL,
  texts          integer NOT NULL
);
COMMENT ON COLUMN owed.erasure.notifications IS 'where the ledger no longer says to which address they went';
COMMENT ON COLUMN owed.erasure.texts IS 'reasons and the like in which something of the person stood';

-- A text without what is given, however it is written. `***=`: what follows is no pattern.
CREATE FUNCTION owed.without(given text, needles text[]) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  v_needle text;
BEGIN
  FOREACH v_needle IN ARRAY needles LOOP
    given := regexp_replace(given, '***=' || v_needle, '[erased]', 'gi');
  END LOOP;
  RETURN given;
END $$;
CREATE FUNCTION owed.contains(given text, needles text[]) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT EXISTS (SELECT FROM unnest(needles) AS needle WHERE strpos(lower(given), lower(needle)) > 0)
$$;

-- Erases a person: everybody with an address (on a channel, or all), or a shipment's recipient, and the same recipient's other
-- channels. That they were notified, when and on what evidence stays. With `p_dry_run` all is done, counted, and undone.
CREATE FUNCTION owed.erase(p_address text, p_channel text, p_shipment_id text, p_recipient_id text, p_by text, p_why text,
  p_dry_run boolean)
RETURNS TABLE (id bigint, subscribers integer, notifications integer, cancelled integer, suppressions integer, refused_events integer,
  texts integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  v_people    bigint[];
  v_rows      uuid[];
  v_sent      uuid[] := '{}';
  v_addresses text[];
  v_keys      text[];
  v_ids       text[];
  v_names     text[];
  v_words     text[];
  v_one       owed.subscriber;
  v_more      integer;
BEGIN
  subscribers := 0; notifications := 0; cancelled := 0; suppressions := 0; refused_events := 0; texts := 0;
  -- The shipments first, as everybody does: no event comes in between.
  PERFORM FROM owed.shipment sh WHERE sh.id IN (
    SELECT s.shipment_id FROM owed.subscriber s
    WHERE CASE WHEN p_address IS NULL THEN (s.shipment_id, s.recipient_id) = (p_shipment_id, p_recipient_id)
      ELSE owed.address_key(s.address) = owed.address_key(p_address) AND coalesce(s.channel = p_channel, true) END)
  ORDER BY sh.id FOR NO KEY UPDATE;
  SELECT coalesce(array_agg(s.id ORDER BY s.id), '{}') INTO v_people
  FROM owed.subscriber s
  JOIN (
    SELECT DISTINCT same.shipment_id, same.recipient_id FROM owed.subscriber same
    WHERE CASE WHEN p_address IS NULL THEN (same.shipment_id, same.recipient_id) = (p_shipment_id, p_recipient_id)
      ELSE owed.address_key(same.address) = owed.address_key(p_address) AND coalesce(same.channel = p_channel, true) END
  ) AS person USING (shipment_id, recipient_id);

  SELECT coalesce(array_agg(n.id ORDER BY n.id), '{}') INTO v_rows
  FROM (SELECT DISTINCT s.shipment_id FROM owed.subscriber s WHERE s.id = ANY (v_people)) AS shipment
  JOIN owed.event e USING (shipment_id)
  CROSS JOIN LATERAL (
    SELECT told.id FROM owed.notification_ever told
    WHERE told.id > e.key AND told.id <= owed.notification_id(e.key, 65535) AND told.subscriber_id = ANY (v_people) OFFSET 0) AS n;

  SELECT array_agg(DISTINCT btrim(given.address)) INTO v_addresses
  FROM (
    SELECT p_address AS address
    UNION ALL SELECT s.address FROM owed.subscriber s WHERE s.id = ANY (v_people)
    UNION ALL SELECT n.sent_to FROM owed.notification_ever n WHERE n.id = ANY (v_rows)
  ) AS given WHERE btrim(given.address) <> '';
  v_addresses := coalesce(v_addresses, '{}');
  SELECT coalesce(array_agg(DISTINCT owed.address_key(address)), '{}') INTO v_keys FROM unnest(v_addresses) AS address;
  SELECT coalesce(array_agg(DISTINCT btrim(s.name)), '{}') INTO v_names
  FROM owed.subscriber s WHERE s.id = ANY (v_people) AND length(btrim(s.name)) > 2;
  -- A recipient's id that is an address, or has a whole name in it.
  SELECT coalesce(array_agg(DISTINCT s.recipient_id), '{}') INTO v_ids
  FROM owed.subscriber s
  WHERE s.id = ANY (v_people) AND (strpos(s.recipient_id, '@') > 0 OR EXISTS (
    SELECT FROM (
      SELECT regexp_replace(lower(word), '[^a-z0-9]', '', 'g') AS bare, word ~ '[^[:alnum:]]' AS long,
        regexp_replace(lower(s.recipient_id), '[^a-z0-9]', '', 'g') AS id
      FROM unnest(v_addresses || v_names) AS word) AS compared
    WHERE bare <> '' AND (bare = compared.id OR long AND strpos(compared.id, bare) > 0)));
  v_words := v_addresses || v_keys || (SELECT coalesce(array_agg(x), '{}') FROM unnest(v_ids) AS x WHERE strpos(x, '@') > 0);

  BEGIN
    INSERT INTO owed.erasure (erased_by, why, subscribers, notifications, cancelled, suppressions, refused_events, texts)
    VALUES (p_by, owed.without(p_why, v_words || v_names), 0, 0, 0, 0, 0, 0) RETURNING erasure.id INTO id;

    FOR v_one IN SELECT s.* FROM owed.subscriber s WHERE s.id = ANY (v_people) AND s.recipient_id = ANY (v_ids) ORDER BY s.id LOOP
      UPDATE owed.old_send o SET recipient_id = 'erased-' || v_one.id
      FROM owed.event e WHERE e.shipment_id = v_one.shipment_id AND o.event_id = e.id AND o.channel = v_one.channel
        AND o.recipient_id = v_one.recipient_id;
    END LOOP;
    UPDATE owed.subscriber s SET address = NULL, name = NULL, erased_at = coalesce(s.erased_at, clock_timestamp()),
      recipient_id = CASE WHEN s.recipient_id = ANY (v_ids) THEN 'erased-' || s.id ELSE s.recipient_id END
    WHERE s.id = ANY (v_people)
      AND (s.address IS NOT NULL OR s.name IS NOT NULL OR s.erased_at IS NULL OR s.recipient_id = ANY (v_ids));
    GET DIAGNOSTICS subscribers = ROW_COUNT;

    UPDATE owed.notification n SET state = 'cancelled', cancelled_at = clock_timestamp(), cancelled_by = 'erasure ' || erase.id,
      reason = 'erased', owed_at = NULL, died_at = NULL, stopped_at = NULL
    FROM (
      SELECT locked.id FROM owed.notification locked
      WHERE locked.id = ANY (v_rows)
        AND (locked.state IN ('pending', 'leased', 'queued', 'dead') OR (locked.state = 'unknown' AND locked.owed_at IS NULL))
      ORDER BY locked.id FOR NO KEY UPDATE) AS held
    WHERE n.id = held.id;
    GET DIAGNOSTICS cancelled = ROW_COUNT;

    -- All that was sent to the person, and, where an address was given, all that was ever sent there: two scans, with what is
    -- quick to compare first.
    IF p_address IS NOT NULL THEN
      v_sent := ARRAY(
        SELECT n.id FROM owed.notification_ever n
        WHERE translate(lower(btrim(n.sent_to)), ' ()./-', '') = translate(lower(btrim(p_address)), ' ()./-', '')
          AND owed.address_key(n.sent_to) = owed.address_key(p_address));
    END IF;
    UPDATE owed.notification n SET sent_to = NULL WHERE n.id = ANY (v_rows || v_sent) AND n.sent_to IS NOT NULL;
    GET DIAGNOSTICS notifications = ROW_COUNT;
    UPDATE owed.notification_archive n SET sent_to = NULL WHERE n.id = ANY (v_rows || v_sent) AND n.sent_to IS NOT NULL;
    GET DIAGNOSTICS v_more = ROW_COUNT; notifications := notifications + v_more;

    -- A provider's words may repeat an address; a person's, a name too.
    UPDATE owed.notification n SET reason = owed.without(n.reason, v_words || v_names)
    WHERE n.id = ANY (v_rows || v_sent) AND owed.contains(n.reason, v_words || v_names);
    GET DIAGNOSTICS v_more = ROW_COUNT; texts := texts + v_more;
    UPDATE owed.notification_archive n SET reason = owed.without(n.reason, v_words || v_names)
    WHERE n.id = ANY (v_rows || v_sent) AND owed.contains(n.reason, v_words || v_names);
    GET DIAGNOSTICS v_more = ROW_COUNT; texts := texts + v_more;
    UPDATE owed.attempt a SET reason = owed.without(a.reason, v_words || v_names)
    WHERE a.notification_id = ANY (v_rows) AND owed.contains(a.reason, v_words || v_names) OR owed.contains(a.reason, v_words);
    GET DIAGNOSTICS v_more = ROW_COUNT; texts := texts + v_more;
    UPDATE owed.channel c SET closed_why = owed.without(c.closed_why, v_words) WHERE owed.contains(c.closed_why, v_words);
    UPDATE owed.backfill_refusal b SET timer_id = NULL WHERE owed.contains(b.timer_id, v_words);

    -- Where a digest stands already, the address is one too many.
    DELETE FROM owed.suppression x
    WHERE x.address = ANY (v_keys) AND x.lifted_at IS NULL AND EXISTS (
      SELECT FROM owed.suppression same
      WHERE same.channel = x.channel AND same.address = owed.address_digest(x.address) AND same.lifted_at IS NULL);
    UPDATE owed.suppression x SET
      address = CASE WHEN x.address = ANY (v_keys) THEN owed.address_digest(x.address) ELSE x.address END,
      detail = owed.without(x.detail, v_words), lifted_why = owed.without(x.lifted_why, v_words || v_names)
    WHERE x.address = ANY (v_keys) OR owed.contains(x.detail, v_words) OR owed.contains(x.lifted_why, v_words);
    GET DIAGNOSTICS suppressions = ROW_COUNT;

    UPDATE owed.refused_event r SET body = ''
    WHERE octet_length(r.body) > 0 AND EXISTS (
      SELECT FROM unnest(v_words || (SELECT coalesce(array_agg(x), '{}') FROM unnest(v_names) AS x WHERE strpos(x, ' ') > 0)) AS word
      WHERE strpos(lower(encode(r.body, 'escape')), lower(encode(convert_to(word, 'UTF8'), 'escape'))) > 0);
    GET DIAGNOSTICS refused_events = ROW_COUNT;

    IF p_dry_run OR subscribers + notifications + cancelled + suppressions + refused_events + texts = 0 THEN
      RAISE EXCEPTION 'undone' USING ERRCODE = 'OW005';
    END IF;
    UPDATE owed.erasure x SET subscribers = erase.subscribers, notifications = erase.notifications, cancelled = erase.cancelled,
      suppressions = erase.suppressions, refused_events = erase.refused_events, texts = erase.texts
    WHERE x.id = erase.id;
  EXCEPTION WHEN SQLSTATE 'OW005' THEN
    id := NULL;
  END;
  RETURN NEXT;
END $$;

REVOKE EXECUTE ON FUNCTION owed.retain, owed.weigh_archived, owed.keep_pause, owed.address_digest, owed.address_keys,
  owed.suppression_key, owed.without, owed.contains, owed.erase FROM PUBLIC;
GRANT EXECUTE ON FUNCTION owed.retain TO owed_sweep, owed_operator;
GRANT EXECUTE ON FUNCTION owed.weigh_archived TO owed_deliver, owed_feedback;
GRANT EXECUTE ON FUNCTION owed.address_digest, owed.address_keys TO owed_sweep, owed_deliver, owed_feedback, owed_operator, owed_reader;
GRANT EXECUTE ON FUNCTION owed.suppression_key TO owed_deliver, owed_feedback;
GRANT EXECUTE ON FUNCTION owed.erase TO owed_operator;
GRANT SELECT ON owed.retention TO owed_sweep, owed_operator, owed_reader;
GRANT SELECT ON owed.notification_ever, owed.pause, owed.erasure TO owed_operator, owed_reader;
