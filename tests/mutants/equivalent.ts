/** Mutants that no test can catch, by the reason why. They are not run, and each must still exist. */
export const equivalent: readonly { why: string; ids: readonly string[] }[] = [
  {
    why: "An event's notifications have the ordinals from 1 on, and 65,535 recipients of one shipment are not there: nobody's id is at the edge of the range.",
    ids: [
      'lease/where: >= in "waits.id > older.key"',
      'lease/where: < in "waits.id <= owed.notification_id(older.key, 65535)"',
      'lease-own/ready.where: >= in "waits.id > older.key"',
      'lease-own/ready.where: < in "waits.id <= owed.notification_id(older.key, 65535)"',
      'lease-own/ready.where: >= in "n.id > e.key"',
      'lease-own/ready.where: < in "n.id <= owed.notification_id(e.key, 65535)"',
      'owed.telling/where: >= in "told.id > newer.key"',
      'owed.telling/where: < in "told.id <= owed.notification_id(newer.key, 65535::bigint)"',
      'owed.register_shipment/where: >= in "n.id > e.key"',
      'owed.register_shipment/where: < in "n.id <= owed.notification_id(e.key, 65535)"',
      'send-again/delivered.where: >= in "last.id > n.event_key"',
      'send-again/delivered.where: < in "last.id <= owed.notification_id(n.event_key, 65535)"',
    ],
  },
  {
    why: "An acceptance that the first statement did not record is not this worker's: nothing here can record it either.",
    ids: [`record-others/recorded.where: drop "o.kind <> 'accepted'"`],
  },
  {
    why: "The row's own place in the order is asked for as well.",
    ids: ['lease-own/ready.on: drop "(older.occurred_at, older.id) <= (own.occurred_at, own.id)"'],
  },
  {
    why: "What it takes in besides was recorded before, and for a sweep goes first: at once it only waits more often.",
    ids: ['lease-own/ready.where: drop "waits.id > older.key"'],
  },
  {
    why: "A cancelled row's lease, if it had one, has ended before this one begins; and where nothing was leased nobody asks.",
    ids: [`lease-rows/where: drop "did = 'lease'"`],
  },
  {
    why: "The sweep's own slices are left out below: it saves walking over their entries.",
    ids: ['lease/waiting.where: drop "n.owed_at < gap.before"'],
  },
  {
    why: "No row is owed now and later at once.",
    ids: ['lease/due.where: <= in "waiting.id < n.id"'],
  },
  {
    why: "Saves the regular expression where it cannot match.",
    ids: [
      `owed.address_key/when: drop "strpos(address, '+') > 0"`,
      `owed.address_key/when: >= in "strpos(address, '+') > 0"`,
    ],
  },
  {
    why: "Saves counting for channels of which nothing is ready.",
    ids: ['lease-own/room.where: drop "c.name IN (SELECT channel FROM ready)"'],
  },
  {
    why: "What the queue has is looked at within lost-after: saves reading what falls due later, which does not count.",
    ids: [`lease-own/room.where: drop "n.owed_at <= now() + make_interval(secs => \${durations.lostAfter})"`],
  },
  {
    why: "Locks more than it needs for a moment; what is joined to it are the messages' rows alone.",
    ids: [`claim-ordinary/where: drop "id = ANY (\${ids}::uuid[])"`],
  },
  {
    why: "Only a dead row has died_at: the table's constraint died_is_dead says so.",
    ids: [
      `judge-messages/judged.when: drop "row.state = 'dead'" #2`,
      `dead-lettered/where: drop "state = 'dead'"`,
    ],
  },
  {
    why: "Saves looking for a reason in rows that are answered without one: the branches before it decide.",
    ids: [
      'judge-messages/judged.where: drop "row.generation = message.generation"',
      `judge-messages/judged.where: drop "row.state IN ('pending', 'leased', 'queued', 'dead')"`,
    ],
  },
  {
    why: "What is joined to a message that was not claimed is not read: its verdict has no more than its name.",
    ids: [`judge-messages/on: drop "moved.did = 'claim'"`],
  },
  {
    why: "A row that has not ended has no provider message id: nothing writes one before the provider accepts, and then the row is delivered.",
    ids: [
      `record-evidence/row: drop "n.state IN ('delivered', 'cancelled')"`,
      'record-evidence/moved: drop "NOT row.ended"',
    ],
  },
  {
    why: "The claim answers for each message it is asked about; were it not so, the next line would throw as well.",
    ids: ['deliver/deliver: never if "verdict === undefined"'],
  },
  {
    why: "Saves reading what is owed later: a row in the queue is looked at again by lost-after at the latest.",
    ids: ['owed.load/where: drop "n.owed_at <= now() + make_interval(secs => lost_after)"'],
  },
  {
    why: "Saves writing what is the same.",
    ids: [
      'owed.register_shipment/where: drop "m.name <> p_merchant_name"',
      'owed.subscribe/where: drop "s.recipient_id <> p_recipient_id"',
      'owed.register_shipment/where: drop "(sh.tracking_number, sh.merchant_id) <> (p_tracking_number, p_merchant_…"',
      'owed.describe_merchant/where: drop "(tracking_url, time_zone) IS DISTINCT FROM (p_tracking_url, p_time_zone)"',
    ],
  },
  {
    why: "A subscriber belongs to one shipment, so the recipient's own rows are of its events alone: saves looking through others.",
    ids: [
      'owed.telling/where: drop "newer.shipment_id = e.shipment_id"',
      'lease/on: drop "older.shipment_id = own.shipment_id"',
      'lease-own/ready.on: drop "older.shipment_id = own.shipment_id"',
    ],
  },
  {
    why: "Nothing is newer than a shipment's current event: saves looking for what is not there.",
    ids: ['owed.telling/when: drop "sh.status_event_id <> e.id"'],
  },
  {
    why: "Only a dead row, or one that is held, has stopped; who claims a held one is told that it is done.",
    ids: [`judge-messages/tried.where: drop "row.state = 'dead'"`],
  },
  {
    why: "What is not finite is infinity, and later than now: nobody writes the other one.",
    ids: ['owed.time_to_drain/when: drop "c.closed_until > now()"'],
  },
  {
    why: "Makes a second row, and of two PostgreSQL takes the first, which is what the provider said.",
    ids: [`record-trouble/closing.where: drop "\${close === null}"`],
  },
  {
    why: "Saves a lock on the merchant while Owed sends for it.",
    ids: ['owed.record_and_fan_out/if: drop "v_mode IS NOT NULL"'],
  },
  {
    why: "Of the shipment's earlier events: what it takes in besides is judged as true or untrue all the same, by lease and claim at the latest.",
    ids: [
      'owed.record_and_fan_out/if: drop "v_newest" #2',
      'owed.record_and_fan_out/if: drop "v_shipment.status IS NOT NULL"',
      'owed.record_and_fan_out/where: >= in "waits.id > e.key"',
      'owed.record_and_fan_out/where: < in "waits.id <= owed.notification_id(e.key, 65535)"',
      'owed.record_and_fan_out/where: drop "e.key <> v_key"',
    ],
  },
  {
    why: "The locked row is asked once more. It could only differ between the statement's beginning and its lock, and whoever holds it then is passed over: nothing can be held there by a test.",
    ids: [
      `owed.record_and_fan_out/where: drop "waits.state = 'pending'"`,
      `owed.record_and_fan_out/where: drop "locked.state = 'pending'"`,
    ],
  },
  {
    why: "Bounds what is read where very many are meant: who asks takes the newest of them, as many as asked for.",
    ids: [
      'owed.find_notified/found.limit: drop "LIMIT p_most"',
      'owed.find_notified/found.limit: drop "LIMIT p_most" #2',
      'owed.find_notified/found.limit: drop "LIMIT p_most" #3',
      'owed.find_notified/limit: drop "LIMIT v_most"',
      'owed.find_notified/limit: drop "LIMIT v_most" #2',
      'owed.find_notified/limit: drop "LIMIT v_most" #3',
      'owed.find_notified/limit: drop "LIMIT v_most" #4',
    ],
  },
];
