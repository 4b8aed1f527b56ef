-- History that is over goes to an archive, which whoever asks still reads; what the sweeps read stays small. What is kept of
-- a person can be erased; that something was sent, when and on what evidence, stays. And the pauses, for a report about them.

SELECT owed.lock_tables('owed.subscriber', 'owed.notification', 'owed.attempt', 'owed.heartbeat', 'owed.suppression', 'owed.moot');

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

-- Who was erased under an id that told who it was is still known by it: the old sender goes on asking with it, and the
-- platform may register it again.
ALTER TABLE owed.subscriber ADD COLUMN recipient_digest text;
COMMENT ON COLUMN owed.subscriber.recipient_digest IS 'of the recipient''s id before it was erased, where it told who it was';

CREATE FUNCTION owed.recipient_digest(recipient_id text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT 'sha256:' || encode(sha256(convert_to(recipient_id, 'UTF8')), 'hex')
$$;
-- A shipment's recipient on a channel, by the id, or by the one before an erasure.
CREATE FUNCTION owed.subscriber_named(p_shipment_id text, p_recipient_id text, p_channel text) RETURNS bigint
LANGUAGE sql STABLE AS $$
  SELECT s.id FROM owed.subscriber s
  WHERE s.shipment_id = p_shipment_id AND s.channel = p_channel
    AND (s.recipient_id = p_recipient_id OR s.recipient_digest = owed.recipient_digest(p_recipient_id))
  ORDER BY s.recipient_id = p_recipient_id DESC
  LIMIT 1
$$;

-- What the old sender said of a recipient, by a digest of its id, under another id. How many rows that were.
CREATE FUNCTION owed.rename_old_sends(p_subscriber bigint, p_digest text, p_recipient_id text) RETURNS integer LANGUAGE plpgsql AS $$
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
END $$;

-- An erased recipient that the platform registers again is the same one, under its id again: a second one beside it would be
-- told once more what the first was told.
ALTER FUNCTION owed.subscribe(text, text, text, text, text, text, text, text) RENAME TO subscribe_by_id;
CREATE FUNCTION owed.subscribe(p_shipment_id text, p_recipient_id text, p_role text, p_channel text,
  p_address text, p_name text DEFAULT NULL, p_locale text DEFAULT 'en', p_time_zone text DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
END $$;
CREATE OR REPLACE FUNCTION owed.opt_out(p_shipment_id text, p_recipient_id text, p_channel text) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  WITH opted_out AS (
    UPDATE owed.subscriber SET opted_out_at = clock_timestamp()
    WHERE id = owed.subscriber_named(p_shipment_id, p_recipient_id, p_channel) AND opted_out_at IS NULL
    RETURNING 1)
  SELECT EXISTS (SELECT FROM opted_out)
$$;

-- One address, however it is written (see address_key); what is quick to compare first.
CREATE FUNCTION owed.same_address(given text, wanted text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT translate(lower(btrim(given)), ' ()./-', '') = translate(lower(btrim(wanted)), ' ()./-', '')
    AND owed.address_key(given) = owed.address_key(wanted)
$$;

-- Specific enough to be looked for in what is not the person's own: an email address, a telephone number, a URL. `-`, `n/a`
-- or a name stand in everybody's texts.
CREATE FUNCTION owed.is_specific(address text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT address ~ '[^[:space:]@]@[^[:space:]@]' OR address ~* '^https://[^[:space:]]{3,}$'
    OR (address ~ '^[+0-9 ()./-]+$' AND length(regexp_replace(address, '[^0-9]', '', 'g')) >= 7)
$$;

-- A pattern of what is to be taken out of a text, each as a whole: not joann@example.com for ann@example.com, nor a number in
-- a longer one. An escape of JSON or of bytes may stand before it (`\n`, `\u003c`, `\303`). What was erased stays as it is.
CREATE FUNCTION owed.needles(words text[]) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT '\[erased\]' || coalesce(string_agg(DISTINCT
    '|(?:(?<![a-z0-9]' || CASE WHEN word ~ '@' THEN '|[a-z0-9][._%+''$*&-]+' WHEN word ~ '^[0-9]' THEN '|[a-z0-9][._/-]+' ELSE '' END
    || ')|(?<=\\(?:[bfnrt]|u[0-9a-f]{4}|[0-3][0-7]{2})))'
    || regexp_replace(word, '([][\\.*+?(){}|^$])', '\\\1', 'g')
    || CASE WHEN word ~ '@' THEN '(?![a-z0-9_@]|[.-]+[a-z0-9])' WHEN word ~* '^https:' THEN '(?![a-z0-9/?#&=%_~@-]|[.:]+[a-z0-9])'
      WHEN word ~ '[0-9]$' THEN '(?![a-z0-9]|[._/-][a-z0-9])' ELSE '(?![a-z0-9])' END, ''), '')
  FROM unnest(words) AS word
$$;
CREATE FUNCTION owed.without(given text, needles text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT regexp_replace(given, needles, '[erased]', 'gi')
$$;

-- The subscribers that are one person, or everybody with an address, in some shipments.
CREATE FUNCTION owed.people(p_shipments text[], p_address text, p_channel text, p_recipient_id text) RETURNS bigint[]
LANGUAGE sql STABLE AS $$
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
$$;
CREATE FUNCTION owed.rows_of(p_people bigint[]) RETURNS uuid[] LANGUAGE sql STABLE AS $$
  SELECT coalesce(array_agg(n.id ORDER BY n.id), '{}')
  FROM (SELECT DISTINCT s.shipment_id FROM owed.subscriber s WHERE s.id = ANY (p_people)) AS shipment
  JOIN owed.event e USING (shipment_id)
  CROSS JOIN LATERAL (
    SELECT told.id FROM owed.notification_ever told
    WHERE told.id > e.key AND told.id <= owed.notification_id(e.key, 65535) AND told.subscriber_id = ANY (p_people) OFFSET 0) AS n
$$;
CREATE FUNCTION owed.addresses_of(p_people bigint[], p_rows uuid[], p_address text) RETURNS text[] LANGUAGE sql STABLE AS $$
  SELECT coalesce(array_agg(DISTINCT btrim(given.address)), '{}')
  FROM (
    SELECT p_address AS address
    UNION ALL SELECT s.address FROM owed.subscriber s WHERE s.id = ANY (p_people)
    UNION ALL SELECT n.sent_to FROM owed.notification_ever n WHERE n.id = ANY (p_rows)
  ) AS given WHERE btrim(given.address) <> ''
$$;

-- Erases a person: everybody with an address (on a channel, or all), or a shipment's recipient, and the same recipient's other
-- channels. That they were notified, when and on what evidence stays. With `p_dry_run` all is done, counted, and undone.
-- By address, whatever was ever sent to it or has it in its words is looked for as well: a scan of the attempts and
-- notifications. All that takes long comes first, and holds nobody up. `known`: there is such a person, erased or not.
CREATE FUNCTION owed.erase(p_address text, p_channel text, p_shipment_id text, p_recipient_id text, p_by text, p_why text,
  p_dry_run boolean)
RETURNS TABLE (id bigint, known boolean, subscribers integer, notifications integer, cancelled integer, suppressions integer,
  refused_events integer, texts integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  v_shipments  text[] := ARRAY[p_shipment_id];
  v_people     bigint[];
  v_rows       uuid[];
  v_sent       uuid[] := '{}';
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
  subscribers := 0; notifications := 0; cancelled := 0; suppressions := 0; refused_events := 0; texts := 0;
  IF p_address IS NOT NULL THEN
    v_shipments := ARRAY(
      SELECT DISTINCT s.shipment_id FROM owed.subscriber s
      WHERE owed.same_address(s.address, p_address) AND coalesce(s.channel = p_channel, true));
    v_sent := ARRAY(SELECT n.id FROM owed.notification_ever n WHERE owed.same_address(n.sent_to, p_address));
    IF NOT owed.is_specific(p_address) AND v_shipments = '{}' AND v_sent = '{}' THEN
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
  known := v_people <> '{}';
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
    WHERE n.id = ANY (v_rows || v_sent)
      AND owed.without(n.reason, CASE WHEN n.id = ANY (v_rows) THEN v_own ELSE v_all END) <> n.reason;
    GET DIAGNOSTICS v_more = ROW_COUNT; texts := texts + v_more;
    UPDATE owed.notification_archive n SET reason = owed.without(n.reason, CASE WHEN n.id = ANY (v_rows) THEN v_own ELSE v_all END)
    WHERE n.id = ANY (v_rows || v_sent)
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
  owed.suppression_key, owed.recipient_digest, owed.subscriber_named, owed.rename_old_sends, owed.subscribe, owed.same_address, owed.is_specific,
  owed.needles, owed.without, owed.people, owed.rows_of, owed.addresses_of, owed.erase FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION owed.subscribe_by_id FROM PUBLIC, owed_platform;
GRANT EXECUTE ON FUNCTION owed.subscribe TO owed_platform;
GRANT EXECUTE ON FUNCTION owed.retain TO owed_sweep, owed_operator;
GRANT EXECUTE ON FUNCTION owed.weigh_archived TO owed_deliver, owed_feedback;
GRANT EXECUTE ON FUNCTION owed.address_digest, owed.address_keys TO owed_sweep, owed_deliver, owed_feedback, owed_operator, owed_reader;
GRANT EXECUTE ON FUNCTION owed.suppression_key TO owed_deliver, owed_feedback;
GRANT EXECUTE ON FUNCTION owed.erase TO owed_operator;
GRANT SELECT ON owed.retention TO owed_sweep, owed_operator, owed_reader;
GRANT SELECT ON owed.notification_ever, owed.pause, owed.erasure TO owed_operator, owed_reader;
