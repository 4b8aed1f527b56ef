import { timeouts } from "@owed/functions/parse-settings";
import { consume, mayConsume } from "./consumer.ts";
import { configurationSet } from "./email.ts";
import { feedbackDlq, feedbackQueue } from "./feedback-queue.ts";
import { createLedgerFunction } from "./ledger-function.ts";
import { createRule } from "./rule.ts";
import { settings } from "./stage.ts";

/** The provider's own events: default bus → queue → feedback → ledger. */
export { feedbackDlq, feedbackQueue };

/** SES sends to the account's default bus alone; what others of the account sent with it is not ours. */
export const feedbackRule = createRule("Feedback", {
  name: "feedback",
  pattern: {
    source: ["aws.ses"],
    detail: { mail: { tags: { "ses:configuration-set": [configurationSet.configurationSetName] } } },
  },
  queue: feedbackQueue,
});

export const feedback = createLedgerFunction("feedback", {
  timeout: timeouts.feedback,
  link: [feedbackQueue],
  permissions: [mayConsume(feedbackQueue)],
});
consume("Feedback", feedbackQueue, feedback, {
  concurrency: settings.concurrency.feedback,
  enabled: !settings.hold,
});
