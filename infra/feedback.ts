import { timeouts } from "@owed/functions/parse-settings";
import { consume, mayConsume } from "./consumer.ts";
import { configurationSet } from "./email.ts";
import { feedbackDlq, feedbackQueue } from "./feedback-queue.ts";
import { createLedgerFunction } from "./ledger-function.ts";
import { createQueuePolicy } from "./queue-policy.ts";
import { createRule } from "./rule.ts";
import { replies } from "./sms-replies.ts";
import { prefix, settings } from "./stage.ts";

/** The providers' own events: default bus → queue → feedback → ledger. */
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

/**
 * End User Messaging tells the account's default bus of every text, by itself and without an event destination. The events
 * name neither configuration set nor pool: each text carries its own as its context (packages/channel/src/sms/channel.ts).
 */
export const smsRule = settings.sms
  ? createRule("Sms", {
      name: "sms",
      pattern: {
        source: ["aws.sms-voice"],
        "detail-type": ["Text Message Delivery Status Updated"],
        detail: { context: { "configuration-set": [prefix] } },
      },
      queue: feedbackQueue,
    })
  : null;

createQueuePolicy("Feedback", feedbackQueue, {
  rules: [feedbackRule, smsRule ?? []].flat(),
  topics: [replies ?? []].flat(),
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
