-- One role a function, one for operators, one for those who only look, and one for the platform's own transactions: each
-- may do what its own statements do, and nothing else. They have no password. On RDS they log in with a token of IAM;
-- elsewhere another user takes them on.

DO $$
DECLARE
  v_role   name;
  v_most   integer;
  v_on_rds boolean := to_regrole('rds_iam') IS NOT NULL;
BEGIN
  -- A cap against a flood, no budget: four times what the default concurrency opens, since what a frozen function had
  -- open stays until the server notices, and concurrency is a setting. People and the platform have what they may need.
  -- ALTER ROLE … CONNECTION LIMIT changes it.
  FOR v_role, v_most IN VALUES
    ('owed_ingest', 16), ('owed_sweep', 8), ('owed_deliver', 32), ('owed_feedback', 16), ('owed_operator', 8), ('owed_reader', 8),
    ('owed_platform', 20)
  LOOP
    -- A role belongs to the whole cluster: another database of it may have made it long ago, or this very moment.
    IF to_regrole(quote_ident(v_role)) IS NULL THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I LOGIN CONNECTION LIMIT %s', v_role, v_most);
      EXCEPTION
        WHEN duplicate_object OR unique_violation THEN NULL;
        WHEN insufficient_privilege THEN
          RAISE EXCEPTION 'the role % is missing, and % may not create it: migrate as a user with CREATEROLE, or create it before',
            v_role, current_user USING ERRCODE = 'insufficient_privilege';
      END;
    END IF;
    IF v_on_rds THEN
      IF NOT EXISTS (SELECT FROM pg_auth_members WHERE (roleid, member) = ('rds_iam'::regrole, to_regrole(quote_ident(v_role)))) THEN
        BEGIN
          EXECUTE format('GRANT rds_iam TO %I', v_role);
        EXCEPTION WHEN unique_violation THEN NULL;
        END;
      END IF;
    -- Who migrates may take them on. Not on RDS: as a member of a member of rds_iam, it could never log in with its
    -- password again.
    ELSIF NOT pg_has_role(v_role, 'SET') AND pg_has_role(v_role, 'MEMBER WITH ADMIN OPTION') THEN
      BEGIN
        EXECUTE format('GRANT %I TO CURRENT_USER WITH INHERIT FALSE, SET TRUE', v_role);
      EXCEPTION WHEN unique_violation THEN NULL;
      END;
    END IF;
  END LOOP;
END $$;

GRANT USAGE ON SCHEMA owed
  TO owed_ingest, owed_sweep, owed_deliver, owed_feedback, owed_operator, owed_reader, owed_platform;

-- Why a row is not to be sent, without the addresses behind it: the view reads its tables with its owner's rights, the
-- functions in it run with those of whoever asks.
GRANT SELECT ON owed.moot TO owed_sweep, owed_deliver, owed_operator, owed_reader;
GRANT EXECUTE ON FUNCTION owed.notification_id TO owed_sweep, owed_deliver, owed_operator, owed_reader;
GRANT EXECUTE ON FUNCTION owed.address_key TO owed_sweep, owed_deliver, owed_feedback, owed_operator, owed_reader;
GRANT EXECUTE ON FUNCTION owed.load, owed.time_to_drain TO owed_sweep, owed_operator, owed_reader;

-- ingest: the fan-out reads every subscriber's address, and ingest itself none. The function is its owner's, as
-- record_event is.
ALTER FUNCTION owed.try_record_event SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
GRANT EXECUTE ON FUNCTION owed.try_record_event TO owed_ingest, owed_operator;
GRANT INSERT (message_id, queue, field, reason, body, body_bytes), SELECT (message_id) ON owed.refused_event
  TO owed_ingest, owed_feedback;

-- sweep, which an operator may run as well.
GRANT SELECT (id, event_key, due_at, subscriber_id, rule_id, channel, leased_until, queued_at, lease_token, generation,
    rescues, resends, owed_at, state, reason) ON owed.notification TO owed_sweep;
GRANT UPDATE (leased_until, queued_at, stopped_at, cancelled_at, lease_token, generation, rescues, resends, owed_at, state, reason)
  ON owed.notification TO owed_sweep, owed_operator;
GRANT INSERT (notification_id, kind, generation, reason) ON owed.attempt TO owed_sweep, owed_operator;
GRANT SELECT (key, id, shipment_id, occurred_at) ON owed.event TO owed_sweep;
GRANT SELECT (id, newest_replaces, on_unknown) ON owed.rule TO owed_sweep;
GRANT SELECT ON owed.claim_mark TO owed_sweep, owed_operator;
GRANT SELECT, UPDATE (rate, quota, used, limits_read_at, closed_at, closed_until, closed_for, closed_why) ON owed.channel
  TO owed_sweep, owed_operator;
GRANT SELECT, UPDATE (holder, held_until, queue_empty_since, beat_at, beating_since) ON owed.heartbeat
  TO owed_sweep, owed_operator;
GRANT SELECT, INSERT (started_at),
  UPDATE (finished_at, leased, published, failed, cancelled, rescued, unknown, resent, owed, oldest_owed_s, time_to_drain_s)
  ON owed.sweep_run TO owed_sweep, owed_operator;

-- deliver, and feedback, which weighs the same evidence: whom a bounce takes out of use is whoever was written to.
GRANT SELECT (id, event_key, due_at, subscriber_id, rule_id, channel, message_id, sent_to, leased_until, queued_at,
    claimed_at, died_at, stopped_at, cancelled_at, lease_token, generation, attempts, owed_at, delivered_at, state, outcome,
    provider, provider_message_id, evidence, reason),
  UPDATE (message_id, sent_to, leased_until, queued_at, claimed_at, died_at, stopped_at, cancelled_at, lease_token,
    generation, attempts, owed_at, delivered_at, state, outcome, provider, provider_message_id, evidence, reason)
  ON owed.notification TO owed_deliver;
GRANT SELECT (id, subscriber_id, channel, sent_to, cancelled_at, lease_token, generation, delivered_at, state, outcome,
    provider, provider_message_id, evidence, reason),
  UPDATE (died_at, stopped_at, cancelled_at, lease_token, owed_at, delivered_at, state, outcome, provider,
    provider_message_id, evidence, reason)
  ON owed.notification TO owed_feedback;
GRANT SELECT (id, role, address, name, locale) ON owed.subscriber TO owed_deliver;
GRANT SELECT (id, address) ON owed.subscriber TO owed_feedback;
GRANT SELECT (key, shipment_id, status, occurred_at) ON owed.event TO owed_deliver;
GRANT SELECT (id, template) ON owed.rule TO owed_deliver;
GRANT SELECT (id, merchant_id, tracking_number) ON owed.shipment TO owed_deliver;
GRANT SELECT ON owed.merchant TO owed_deliver;
GRANT SELECT (restored_at) ON owed.heartbeat TO owed_deliver;
GRANT INSERT ON owed.claim_mark TO owed_deliver;
GRANT INSERT (notification_id, kind, generation, message_id, actor, reason) ON owed.attempt TO owed_deliver;
GRANT INSERT (notification_id, kind, generation, provider_message_id, reason),
  SELECT (notification_id, kind, provider_message_id) ON owed.attempt TO owed_deliver, owed_feedback;
GRANT INSERT (channel, address, cause, detail, notification_id), SELECT (channel, address, notification_id, lifted_at)
  ON owed.suppression TO owed_deliver, owed_feedback;
GRANT EXECUTE ON FUNCTION owed.rank TO owed_deliver, owed_feedback;
GRANT SELECT, UPDATE (failures, openings, closed_at, closed_until, closed_for, closed_why, evidence_late_at) ON owed.channel
  TO owed_deliver;
GRANT SELECT (name, evidence_late_at), UPDATE (evidence_late_at) ON owed.channel TO owed_feedback;

-- Who looks sees the whole ledger, but for what subscribers are called and where they are reached: where a notification
-- went stands on its own row. An operator looks before mending.
GRANT SELECT ON owed.attempt, owed.channel, owed.event, owed.heartbeat, owed.notification, owed.refused_event, owed.rule,
  owed.suppression, owed.sweep_run TO owed_reader, owed_operator;
GRANT SELECT ON owed.merchant, owed.shipment, owed.status TO owed_reader;
GRANT SELECT (id, recipient_id, role) ON owed.subscriber TO owed_operator;
GRANT SELECT (id, shipment_id, recipient_id, role, channel, locale, opted_out_at, created_at) ON owed.subscriber
  TO owed_reader;

-- operator: looks, sweeps, records events, and mends.
GRANT INSERT (id, event_key, due_at, replays, subscriber_id, rule_id, channel, owed_at),
  UPDATE (died_at, delivered_at, outcome, evidence) ON owed.notification TO owed_operator;
GRANT INSERT (at, actor) ON owed.attempt TO owed_operator;
GRANT UPDATE (failures, openings) ON owed.channel TO owed_operator;
GRANT UPDATE (paused_at, paused_by, paused_why, restored_at) ON owed.heartbeat TO owed_operator;
GRANT UPDATE (lifted_at, lifted_by, lifted_why) ON owed.suppression TO owed_operator;
GRANT UPDATE (retried_at, retried_by) ON owed.refused_event TO owed_operator;

-- platform: these four, which do their owner's work, and no table.
GRANT EXECUTE ON FUNCTION owed.register_shipment, owed.subscribe, owed.record_event, owed.opt_out TO owed_platform;
