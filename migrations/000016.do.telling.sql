-- A claim reads each row that it needs once: what is to be sent, and why it is not, come from one view.

SELECT owed.lock_tables('owed.moot');

-- Most addresses are no telephone numbers: what begins with no plus sign costs no regular expression.
CREATE OR REPLACE FUNCTION owed.address_key(address text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN strpos(address, '+') > 0 AND address ~ '^\s*\+[0-9 ()./-]+$' THEN regexp_replace(address, '[^+0-9]', '', 'g')
    ELSE lower(btrim(address)) END
$$;

-- Each notification with what it is sent with; and why it is no longer to be sent, or null while it is still true, and what
-- made it so. The one place that says so.
CREATE VIEW owed.telling AS
SELECT n.id, split_part(judged.why, ' ', 1) AS reason, substr(judged.why, strpos(judged.why || ' ', ' ') + 1) AS by,
  n.leased_until, n.channel, r.template, s.role, s.address, s.name, s.locale, coalesce(s.time_zone, m.time_zone) AS time_zone,
  e.shipment_id, sh.tracking_number, e.status, e.occurred_at, m.id AS merchant_id, m.name AS merchant_name, m.tracking_url
FROM owed.notification n
JOIN owed.subscriber s ON s.id = n.subscriber_id
-- OFFSET 0: looked up, where the planner would build a hash table of all rules for each row.
CROSS JOIN LATERAL (
  SELECT rule.template, rule.only_while_current, rule.newest_replaces FROM owed.rule WHERE rule.id = n.rule_id OFFSET 0) AS r
JOIN owed.event e ON e.key = n.event_key
JOIN owed.shipment sh ON sh.id = e.shipment_id
-- LEFT: whoever asks for nothing of the merchant's does not read it.
LEFT JOIN owed.merchant m ON m.id = sh.merchant_id
-- OFFSET 0: judged once a row, although it is read three times.
CROSS JOIN LATERAL (
  SELECT coalesce(
        CASE
          WHEN n.send_by <= now() THEN 'expired deadline'
          WHEN s.erased_at IS NOT NULL THEN 'erased recipient'
          WHEN s.opted_out_at IS NOT NULL THEN 'opted_out recipient'
        END,
        (SELECT CASE x.cause WHEN 'opted_out' THEN 'opted_out' ELSE 'suppressed' END || ' suppression ' || x.id
         FROM owed.suppression x
         WHERE x.channel = n.channel AND x.address = ANY (owed.address_keys(s.address)) AND x.lifted_at IS NULL LIMIT 1),
        CASE
          -- Who replays a delivered notification wants the older text once more.
          WHEN n.replays IS NOT NULL THEN NULL
          WHEN r.only_while_current AND sh.status <> e.status THEN 'superseded event ' || sh.status_event_id
          WHEN r.newest_replaces AND sh.status_event_id <> e.id THEN (
            -- LATERAL and OFFSET 0 leave the planner no choice: a short range of the primary key for each newer event,
            -- never a scan of the ledger, whatever the statistics say.
            SELECT 'superseded event ' || newer.id
            FROM owed.event newer CROSS JOIN LATERAL (
              SELECT FROM owed.notification told
              WHERE told.id > newer.key AND told.id <= owed.notification_id(newer.key, 65535)
                AND told.subscriber_id = n.subscriber_id
                -- A follow-up replaces nothing before it is due, and nor does what was given up, or cancelled for a reason of its
                -- own. What came too late still says that the older is not true any more.
                AND CASE told.state WHEN 'delivered' THEN true WHEN 'dead' THEN false
                  WHEN 'cancelled' THEN told.reason IN ('expired', 'superseded')
                  ELSE told.due_at <= greatest(now(), newer.recorded_at) END
              OFFSET 0) AS standing
            WHERE newer.shipment_id = e.shipment_id AND (newer.occurred_at, newer.id) > (e.occurred_at, e.id)
            ORDER BY newer.occurred_at DESC, newer.id DESC
            LIMIT 1)
        END) AS why OFFSET 0) AS judged;
REVOKE ALL ON owed.telling FROM PUBLIC;
GRANT SELECT ON owed.telling TO owed_deliver;

CREATE OR REPLACE VIEW owed.moot AS SELECT id, reason, by FROM owed.telling;
