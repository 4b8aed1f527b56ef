-- One merchant after the other moves over from another sender, both working with this ledger: what the old sender says and
-- asks, what Owed would have sent meanwhile, and who changed what. A row is in one sender's hands at any time: its own mode
-- says in whose, and nobody reads that without the row's lock. Who acts by a merchant's mode keeps it as it is meanwhile.

SELECT owed.lock_tables('owed.shipment', 'owed.merchant', 'owed.notification');

-- Empty but for the time of the rollout, and none names a column of a clean delivery that no index named before.
CREATE INDEX notification_held ON owed.notification (due_at, id) WHERE owed_at = 'infinity';
CREATE INDEX notification_shadow_due ON owed.notification (due_at)
  WHERE mode = 'shadow' AND shadow_published_at IS NULL AND shadow_moot IS NULL;
CREATE INDEX notification_shadowed ON owed.notification (due_at)
  WHERE shadow_published_at IS NOT NULL OR shadow_moot IS NOT NULL;

CREATE INDEX shipment_merchant ON owed.shipment (merchant_id, id);

CREATE TABLE owed.rollout (
  one           boolean PRIMARY KEY DEFAULT true CHECK (one),
  new_merchants text NOT NULL DEFAULT 'owed' CHECK (new_merchants IN ('old', 'shadow', 'owed'))
);
INSERT INTO owed.rollout DEFAULT VALUES;
COMMENT ON COLUMN owed.rollout.new_merchants IS 'the mode of a merchant that the ledger first hears of';

CREATE TABLE owed.cutover (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at          timestamptz NOT NULL DEFAULT clock_timestamp(),
  merchant_id text REFERENCES owed.merchant,
  was         text NOT NULL,
  became      text NOT NULL,
  actor       text NOT NULL,
  why         text NOT NULL
);
COMMENT ON COLUMN owed.cutover.merchant_id IS 'null: merchants that the ledger first hears of';

-- What the old sender sent, and what it is at work on where the ledger has no row for it (yet).
CREATE TABLE owed.old_send (
  id                  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  merchant_id         text NOT NULL,
  event_id            text NOT NULL,
  recipient_id        text NOT NULL,
  channel             text NOT NULL,
  template            text NOT NULL,
  notification_id     uuid,
  claimed_at          timestamptz,
  sent_at             timestamptz,
  provider            text,
  provider_message_id text,
  recorded_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
  CHECK (sent_at IS NOT NULL OR claimed_at IS NOT NULL),
  CHECK (greatest(length(merchant_id), length(event_id), length(recipient_id), length(channel), length(template),
    length(provider), length(provider_message_id)) <= 256)
);
CREATE UNIQUE INDEX old_send_once ON owed.old_send
  (event_id, recipient_id, channel, template, sent_at, provider_message_id) NULLS NOT DISTINCT;
CREATE INDEX old_send_without_row ON owed.old_send (merchant_id) WHERE notification_id IS NULL;
CREATE INDEX old_send_sent ON owed.old_send (sent_at);
COMMENT ON COLUMN owed.old_send.notification_id IS 'the row that it was, where the ledger had one by then';

-- What a merchant's mode is locked by: few enough that a transaction about all merchants has room for its locks. '': the mode
-- of merchants that the ledger first hears of.
CREATE FUNCTION owed.mode_key(p_merchant_id text) RETURNS integer LANGUAGE sql IMMUTABLE AS $$ SELECT hashtext(p_merchant_id) & 1023 $$;

-- The merchant's mode, which a cutover does not change before this transaction has ended; null: the ledger knows no such merchant.
-- No lock on the merchant's row, which the platform's own transactions change.
CREATE FUNCTION owed.keep_mode(p_merchant_id text) RETURNS text LANGUAGE plpgsql AS $$
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
END $$;

-- The mode is this transaction's to change: null; or whom it waits for, after three seconds in which their like waited as well.
CREATE FUNCTION owed.take_mode(p_merchant_id text) RETURNS text LANGUAGE plpgsql SET lock_timeout = '3s' AS $$
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
END $$;

-- The row that tells a recipient of an event; not the one that an operator sent once more.
CREATE FUNCTION owed.find_notification(p_event_id text, p_recipient_id text, p_channel text, p_template text) RETURNS uuid
LANGUAGE sql STABLE AS $$
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
$$;

-- How long a claim of the old sender stands. Whoever says nothing for so long may have sent.
CREATE FUNCTION owed.old_claim_ends() RETURNS interval LANGUAGE sql IMMUTABLE AS $$ SELECT interval '15 minutes' $$;

-- May the old sender send this now? Once: a second claim is refused while the first stands. Where the ledger has no row,
-- the merchant's mode decides: what Owed is to send comes to it with the event.
CREATE FUNCTION owed.old_claim(merchant_id text, event_id text, recipient_id text, channel text, template text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
END $$;

-- That the old sender sent it is evidence, as a provider's own event is: a row that has ended only says so as well.
CREATE FUNCTION owed.settle_old_send(p_id uuid, p_provider text, p_provider_message_id text, p_sent_at timestamptz) RETURNS void
LANGUAGE sql AS $$
  UPDATE owed.notification n SET
    state = CASE n.state WHEN 'cancelled' THEN n.state ELSE 'delivered' END,
    delivered_at = CASE WHEN n.state <> 'cancelled' THEN p_sent_at END,
    evidence = CASE WHEN n.state <> 'cancelled' THEN 'old_sender' END,
    outcome = CASE n.outcome WHEN 'none' THEN 'accepted' ELSE n.outcome END,
    provider = coalesce(n.provider, p_provider), provider_message_id = coalesce(n.provider_message_id, p_provider_message_id),
    lease_token = n.lease_token + CASE n.state WHEN 'cancelled' THEN 0 ELSE 1 END, owed_at = NULL, died_at = NULL, stopped_at = NULL,
    reason = CASE n.state WHEN 'cancelled' THEN n.reason END
  WHERE n.id = p_id AND n.state <> 'delivered'
$$;

-- What the old sender sent of an event before the ledger heard of it.
CREATE FUNCTION owed.settle_early_sends(p_event_id text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_send owed.old_send;
  v_id   uuid;
BEGIN
  FOR v_send IN SELECT * FROM owed.old_send o WHERE o.event_id = p_event_id AND o.sent_at IS NOT NULL ORDER BY o.sent_at LOOP
    v_id := owed.find_notification(p_event_id, v_send.recipient_id, v_send.channel, v_send.template);
    PERFORM owed.settle_old_send(v_id, v_send.provider, v_send.provider_message_id, v_send.sent_at);
    UPDATE owed.old_send o SET notification_id = v_id WHERE o.id = v_send.id;
  END LOOP;
END $$;

-- The old sender has sent it. Once more changes nothing.
CREATE FUNCTION owed.old_sent(merchant_id text, event_id text, recipient_id text, channel text, template text,
  provider text, provider_message_id text, sent_at timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
END $$;

-- The old sender has certainly not sent it, and lets go of its claim. With a reason: nor will it ever.
CREATE FUNCTION owed.old_gave_up(merchant_id text, event_id text, recipient_id text, channel text, template text,
  reason text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
END $$;

-- What the old sender is to send and has not claimed, oldest first: for the timers that it lost, or never had, since Owed had
-- the merchant meanwhile. What was due before the ledger was put back from a backup may have been sent: a person decides.
-- Looks at the oldest hundred for each one asked for, since most of them may have become untrue.
CREATE FUNCTION owed.old_due(most integer DEFAULT 100, within interval DEFAULT '1 day')
RETURNS TABLE (merchant_id text, event_id text, shipment_id text, status text, occurred_at timestamptz, recipient_id text,
  role text, channel text, template text, due_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
$$;

-- A shipment that is registered again may belong to another merchant by now: the newest values count, all of them. Not while
-- the old sender holds rows of it: the first merchant's cutover would not find them any more, and the other's may be over.
CREATE OR REPLACE FUNCTION owed.register_shipment(p_id text, p_merchant_id text, p_merchant_name text, p_tracking_number text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
END $$;

-- Events that the old sender has told of, or is telling of, and that the ledger has not heard of: when they come, Owed would
-- tell of them again. Null: those of merchants that the ledger does not know.
CREATE FUNCTION owed.unheard(p_merchant_id text) RETURNS TABLE (sends integer, events text[]) LANGUAGE sql STABLE AS $$
  SELECT count(*)::integer, coalesce((array_agg(DISTINCT o.event_id))[1:5], '{}') FROM owed.old_send o
  WHERE o.notification_id IS NULL AND NOT EXISTS (SELECT FROM owed.event e WHERE e.id = o.event_id)
    AND CASE WHEN p_merchant_id IS NULL THEN NOT EXISTS (SELECT FROM owed.merchant m WHERE m.id = o.merchant_id)
      ELSE o.merchant_id = p_merchant_id END
$$;

-- Changes a merchant's mode; its rows follow in steps (move_held, hold_rows). Not to Owed while there are unheard events.
-- Returns the mode before; how many sends these are, and up to five of the events; whom it waited for in vain; whether the
-- mode is now, or with `p_dry_run` would be, the one asked for.
CREATE FUNCTION owed.set_mode(p_merchant_id text, p_mode text, p_unheard_too boolean, p_dry_run boolean, p_by text, p_why text)
RETURNS TABLE (was text, unheard integer, events text[], waits_for text, done boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
END $$;

-- The same for merchants that the ledger first hears of.
CREATE FUNCTION owed.set_new_merchants(p_mode text, p_unheard_too boolean, p_dry_run boolean, p_by text, p_why text)
RETURNS TABLE (was text, unheard integer, events text[], waits_for text, done boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
END $$;

-- One step of what a merchant's held rows become, those of its next `p_most` shipments: Owed's, or held in the other mode. What the old
-- sender has sent is delivered, what it is at work on stays. `past`: what becomes of those that were due by `p_since` and that
-- nobody sent; null: they stay. Nothing moves once the merchant's mode is another. `next`: after which shipment there are more.
CREATE FUNCTION owed.move_held(p_merchant_id text, p_mode text, p_since timestamptz, p_past text, p_after text, p_most integer,
  p_by text, p_why text)
RETURNS TABLE (id uuid, did text, next text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
END $$;

-- One step back: what Owed has not begun with is held for the old sender. What a sweep, the queue or a worker has, what was
-- tried, and what an operator sent once more, stays with Owed.
CREATE FUNCTION owed.hold_rows(p_merchant_id text, p_mode text, p_after text, p_most integer)
RETURNS TABLE (id uuid, did text, next text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
END $$;

-- What Owed would have sent beside what the old sender sent: rows that were judged or fell due in shadow, by their time; and
-- what the old sender sent without a row, or beside Owed, by the time of the send.
CREATE FUNCTION owed.compared(p_merchant_id text, p_since timestamptz, p_until timestamptz)
RETURNS TABLE (notification_id uuid, merchant_id text, shipment_id text, event_id text, recipient_id text, channel text, template text,
  due_at timestamptz, would_at timestamptz, moot text, owed_sent_at timestamptz, old_claimed_at timestamptz,
  old_sent_at timestamptz, old_sends integer, heard boolean, verdict text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
$$;

-- Today's timers, from a file. What was read is told apart by its digest, so that a run that broke off goes on where it was.
CREATE TABLE owed.backfill (
  digest      text PRIMARY KEY CHECK (digest ~ '^[0-9a-f]{64}$'),
  name        text NOT NULL,
  mode        text NOT NULL CHECK (mode IN ('old', 'shadow')),
  actor       text NOT NULL,
  started_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  finished_at timestamptz,
  records     bigint NOT NULL DEFAULT 0,
  added       bigint NOT NULL DEFAULT 0,
  repeated    bigint NOT NULL DEFAULT 0,
  refused     bigint NOT NULL DEFAULT 0
);
COMMENT ON COLUMN owed.backfill.digest IS 'SHA-256 of the file';
CREATE TABLE owed.backfill_refusal (
  digest   text NOT NULL REFERENCES owed.backfill,
  line     bigint NOT NULL,
  timer_id text,
  field    text NOT NULL,
  reason   text NOT NULL,
  PRIMARY KEY (digest, line)
);
COMMENT ON TABLE owed.backfill_refusal IS 'lines that were left out; of a file the first 10,000, and never a value';

-- The event that a timer came from, where nobody remembers its id.
CREATE FUNCTION owed.timer_event_id(shipment_id text, status text, occurred_at timestamptz) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT 'timer.' || $1 || '.' || $2 || '.' || (extract(epoch FROM $3) * 1000000)::bigint
$$;

-- The lines with what they lead to: their event's id, their rule and deadline; or why they are left out. Changes nothing.
CREATE FUNCTION owed.judge_timers(p_lines jsonb)
RETURNS TABLE (line bigint, timer_id text, merchant_id text, merchant_name text, shipment_id text, tracking_number text, event_id text,
  status text, occurred_at timestamptz, recipient_id text, role text, channel text, address text, name text, locale text,
  time_zone text, template text, due_at timestamptz, send_by timestamptz, rule_id bigint, field text, reason text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
$$;

-- Takes in the records after `p_from` of a file, up to `p_to`: those that can be read, and the refusals of those that can't.
-- All of it or nothing; once more, nothing. Returns what the file has led to so far.
CREATE FUNCTION owed.backfill_timers(p_digest text, p_from bigint, p_to bigint, p_lines jsonb, p_refusals jsonb)
RETURNS SETOF owed.backfill
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
END $$;

REVOKE EXECUTE ON FUNCTION owed.mode_key, owed.keep_mode, owed.take_mode, owed.unheard, owed.find_notification, owed.settle_old_send, owed.settle_early_sends, owed.old_claim_ends, owed.old_claim, owed.old_sent, owed.old_gave_up, owed.old_due,
  owed.set_mode, owed.set_new_merchants, owed.move_held, owed.hold_rows, owed.compared, owed.timer_event_id, owed.judge_timers,
  owed.backfill_timers FROM PUBLIC;
GRANT EXECUTE ON FUNCTION owed.old_claim, owed.old_sent, owed.old_gave_up, owed.old_due, owed.timer_event_id TO owed_platform;
GRANT EXECUTE ON FUNCTION owed.compared TO owed_operator, owed_reader;
GRANT EXECUTE ON FUNCTION owed.set_mode, owed.set_new_merchants, owed.move_held, owed.hold_rows, owed.judge_timers,
  owed.backfill_timers TO owed_operator;
GRANT EXECUTE ON FUNCTION owed.old_claim_ends TO owed_operator, owed_reader;
GRANT SELECT ON owed.rollout, owed.cutover, owed.old_send, owed.backfill, owed.backfill_refusal TO owed_operator, owed_reader;
GRANT INSERT (digest, name, mode, actor), UPDATE (finished_at) ON owed.backfill TO owed_operator;
GRANT SELECT (mode, cancelled_by, shadow_published_at, shadow_moot), UPDATE (shadow_published_at, shadow_moot)
  ON owed.notification TO owed_sweep, owed_operator;
GRANT SELECT (id, merchant_id) ON owed.shipment TO owed_operator;
