import { createAlarm } from "./create-alarm.ts";
import { deployed } from "./database.ts";
import { deliver } from "./deliver.ts";
import { eventDlq, eventQueue, eventRule, ingest } from "./event.ts";
import { feedback, feedbackDlq, feedbackQueue, feedbackRule, smsRule } from "./feedback.ts";
import {
  databaseMetric,
  functionMetric,
  ownMetric,
  queueMetric,
  reputationMetric,
  ruleMetric,
  smsMetric,
  topicMetric,
} from "./metrics.ts";
import { notificationDlq, notificationQueue } from "./queue.ts";
import { replies } from "./sms-replies.ts";
import { settings } from "./stage.ts";
import { sweep } from "./sweep.ts";

/** What somebody must be told of; docs/operate.md says what to do about each. $0.10 a month and alarm. */

const { alarm, functions, database, sms } = settings;
const fiveMinutes = 300;

createAlarm("SweepMissing", {
  says: "No sweep has succeeded in three beats: nothing is sent. Is the schedule paused, or the database away?",
  metric: ownMetric("sweep", "sweeps"),
  is: { below: 1 },
  period: functions.sweep.every,
  periods: 3,
  missingIsBad: true,
});
createAlarm("OldestOwed", {
  says: `A notification has been owed for more than ${alarm.oldestOwed} s: is a channel closed, or slower than what comes in? See owed status.`,
  metric: ownMetric("sweep", "oldestOwedAge", "Maximum"),
  is: { above: alarm.oldestOwed },
  period: functions.sweep.every,
  periods: 3,
});

for (const [name, queue, deadLetters] of [
  ["Event", eventQueue, eventDlq],
  ["Notification", notificationQueue, notificationDlq],
  ["Feedback", feedbackQueue, feedbackDlq],
] as const) {
  createAlarm(`${name}Dlq`, {
    says: `The ${name.toLowerCase()} queue gave up on messages: see owed dead or owed refused, mend the cause, redrive.`,
    metric: queueMetric(deadLetters, "ApproximateNumberOfMessagesVisible"),
    is: { above: 0 },
    period: 60,
  });
  createAlarm(`${name}Age`, {
    says: `A message has waited in the ${name.toLowerCase()} queue for more than ${alarm.oldestOwed} s: does its consumer run, and the database answer?`,
    metric: queueMetric(queue, "ApproximateAgeOfOldestMessage"),
    is: { above: alarm.oldestOwed },
    period: 60,
    periods: 3,
  });
}

createAlarm("DeliveryErrors", {
  says: "Sends fail, are refused, or can't be recorded: see owed dead, and deliver's log.",
  metric: ["transient", "refused", "unrecorded"].map((name) => ownMetric("deliver", name)),
  is: { above: alarm.deliveryErrors },
  period: fiveMinutes,
});
createAlarm("ChannelClosed", {
  says: "A channel was closed: its provider is down, throttles, has no quota left or stopped the account. See owed status.",
  metric: ownMetric("deliver", "closed"),
  is: { above: 0 },
  period: fiveMinutes,
});
createAlarm("UnknownOutcomes", {
  says: "Nobody knows whether some notifications were sent: they wait for evidence, and are resent without it. See owed status.",
  metric: [ownMetric("deliver", "unknown"), ownMetric("sweep", "unknown")],
  is: { above: alarm.unknown },
  period: fiveMinutes,
});

// SES looks into an account from 5 % bounces and 0.1 % complaints on, and stops it at twice and five times as many.
createAlarm("BounceRate", {
  says: "Of a hundred emails more than three bounce: SES looks into the account from five on. Where do the addresses come from?",
  metric: reputationMetric("Reputation.BounceRate"),
  is: { above: 0.03 },
  period: 3600,
});
createAlarm("ComplaintRate", {
  says: "Of ten thousand emails more than five are complained about: SES looks into the account from ten on.",
  metric: reputationMetric("Reputation.ComplaintRate"),
  is: { above: 0.0005 },
  period: 3600,
});

for (const [name, rule, queue, own] of [
  ["Event", eventRule, "event", true] as const,
  ["Feedback", feedbackRule, "feedback", false] as const,
  ...(smsRule ? [["Sms", smsRule, "feedback", false] as const] : []),
])
  createAlarm(`${name}Rule`, {
    says: `EventBridge can't hand events to the ${queue} queue, and drops them after a day: was the queue's policy changed?`,
    metric: ruleMetric(rule, own),
    is: { above: 0 },
    period: fiveMinutes,
  });

if (sms)
  createAlarm("SmsSpend", {
    says: `Of the $${sms.monthlySpend} that the account may spend on texts in a month four fifths are gone: at the limit AWS sends none. Ask for more.`,
    metric: smsMetric("TextMessageMonthlySpend"),
    is: { above: 0.8 * sms.monthlySpend },
    period: fiveMinutes,
    missingIsSame: true,
  });
if (replies)
  createAlarm("SmsReplies", {
    says: "SNS can't hand answers to texts to the feedback queue, and a STOP is not heard: was the queue's policy changed?",
    metric: topicMetric(replies, "NumberOfNotificationsFailed"),
    is: { above: 0 },
    period: fiveMinutes,
  });

for (const [name, fn] of Object.entries({
  Ingest: ingest,
  Sweep: sweep,
  Deliver: deliver,
  Feedback: feedback,
})) {
  createAlarm(`${name}Errors`, {
    says: `${name} fails as a whole, time after time: see its log.`,
    metric: functionMetric(fn, "Errors"),
    is: { above: 0 },
    period: fiveMinutes,
    periods: 2,
  });
  createAlarm(`${name}Throttles`, {
    says: `${name} is not let run: the account's concurrency is used up.`,
    metric: functionMetric(fn, "Throttles"),
    is: { above: 0 },
    period: fiveMinutes,
    periods: 2,
  });
}

if (deployed) {
  createAlarm("DatabaseConnections", {
    says: "Four fifths of the database's connections are taken: who else has connected?",
    metric: databaseMetric(deployed, "DatabaseConnections"),
    is: { above: 0.8 * database.maxConnections },
    period: 60,
    periods: 3,
  });
  createAlarm("DatabaseStorage", {
    says: "Less than a tenth of the first storage is free, and it did not grow: is database.mostStorage reached?",
    metric: databaseMetric(deployed, "FreeStorageSpace"),
    is: { below: (database.storage * 2 ** 30) / 10 },
    period: fiveMinutes,
  });
}
