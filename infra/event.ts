import { eventReceives, timeouts } from "@owed/functions/parse-settings";
import { consume, mayConsume } from "./consumer.ts";
import { createQueueWithDlq } from "./dead-letters.ts";
import { createLedgerFunction } from "./ledger-function.ts";
import { notificationQueue } from "./queue.ts";
import { createQueuePolicy } from "./queue-policy.ts";
import { createRule } from "./rule.ts";
import { settingsLink } from "./settings-link.ts";
import { visibilityOf } from "./settings-rules.ts";
import { prefix, settings } from "./stage.ts";

/**
 * Shipment events: bus → queue → ingest → ledger, and what is owed at once on to the notification queue. The event queue
 * waits while the database is away; a bus would not.
 */

/** What the shop's services put their events on. */
export const bus = new aws.cloudwatch.EventBus("EventBus", { name: prefix });

const pattern = { "detail-type": ["shipment.status_changed"] };

/** A ledger that was put back from a backup is given the events since then again. */
new aws.cloudwatch.EventArchive("EventArchive", {
  name: `${prefix}-events`,
  eventSourceArn: bus.arn,
  eventPattern: JSON.stringify(pattern),
  retentionDays: settings.database.backupDays,
});

export const { queue: eventQueue, deadLetters: eventDlq } = createQueueWithDlq("Event", {
  fifo: false,
  visibility: visibilityOf("ingest"),
  receives: eventReceives,
});

export const eventRule = createRule("Event", { name: "event", bus, pattern, queue: eventQueue });
createQueuePolicy("Event", eventQueue, { rules: [eventRule] });

export const ingest = createLedgerFunction("ingest", {
  timeout: timeouts.ingest,
  link: [eventQueue, notificationQueue, settingsLink],
  permissions: [mayConsume(eventQueue), { actions: ["sqs:SendMessage"], resources: [notificationQueue.arn] }],
});
consume("Ingest", eventQueue, ingest, { concurrency: settings.concurrency.ingest });
