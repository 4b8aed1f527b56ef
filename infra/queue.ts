import { createQueue, createQueueWithDlq } from "./dead-letters.ts";
import { visibilityOf } from "./settings-rules.ts";
import { settings } from "./stage.ts";

/** Notifications that are due: sweep → queue → deliver. Order holds within a group: a shipment, a recipient, a channel. */
export const { queue: notificationQueue, deadLetters: notificationDlq } = createQueueWithDlq("Notification", {
  fifo: true,
  visibility: visibilityOf("deliver"),
  receives: settings.functions.deliver.receives,
});

/** A second one that nobody consumes: what the sweep publishes there can be looked at, and reaches no one. */
export const shadowQueue = settings.shadowQueue ? createQueue("ShadowQueue", { fifo: true }) : null;
