import { timeouts } from "@owed/functions/parse-settings";
import { consume, mayConsume } from "./consumer.ts";
import { email, maySend } from "./email.ts";
import { createLedgerFunction } from "./ledger-function.ts";
import { notificationQueue } from "./queue.ts";
import { settingsLink } from "./settings-link.ts";
import { settings } from "./stage.ts";

/** queue → deliver → provider. */
export const deliver = createLedgerFunction("deliver", {
  timeout: timeouts.deliver,
  link: [notificationQueue, email, settingsLink],
  permissions: [mayConsume(notificationQueue), maySend],
});
// Each worker keeps to its part of a channel's rate, by this same number.
consume("Deliver", notificationQueue, deliver, {
  concurrency: settings.functions.deliver.concurrency,
  enabled: !settings.hold,
});
