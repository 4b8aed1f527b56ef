import { timeouts } from "@owed/functions/parse-settings";
import { consume, mayConsume } from "./consumer.ts";
import { email, maySend } from "./email.ts";
import { createLedgerFunction } from "./ledger-function.ts";
import { notificationQueue } from "./queue.ts";
import { settingsLink } from "./settings-link.ts";
import { sms } from "./sms.ts";
import { settings } from "./stage.ts";
import { webhook } from "./webhook.ts";

/** queue → deliver → provider, or a merchant's inbox. */
export const deliver = createLedgerFunction("deliver", {
  timeout: timeouts.deliver,
  link: [notificationQueue, email, sms?.link ?? [], webhook?.key ?? [], settingsLink].flat(),
  permissions: [mayConsume(notificationQueue), maySend, sms?.maySend ?? []].flat(),
  securityGroups: webhook?.securityGroups ?? [],
});
// Each worker keeps to its part of a channel's rate, by this same number.
consume("Deliver", notificationQueue, deliver, {
  concurrency: settings.functions.deliver.concurrency,
  enabled: !settings.hold,
});
