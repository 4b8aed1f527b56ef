import { alarms } from "./create-alarm.ts";
import { deployed } from "./database.ts";
import { deliver } from "./deliver.ts";
import { eventDlq, eventQueue, ingest } from "./event.ts";
import { feedback, feedbackDlq, feedbackQueue } from "./feedback.ts";
import {
  databaseMetric,
  functionMetric,
  type Metric,
  ownMetric,
  queueMetric,
  reputationMetric,
  smsMetric,
} from "./metrics.ts";
import { notificationDlq, notificationQueue, shadowQueue } from "./queue.ts";
import { prefix, region, settings } from "./stage.ts";
import { sweep } from "./sweep.ts";

/** One page, from left to right and down in the order of the data. The first three of an account cost nothing. */

type Chart = { title: string; metrics: Metric[] };

const count = (stage: Parameters<typeof ownMetric>[0], ...names: string[]) =>
  names.map((name) => ownMetric(stage, name));
const most = (stage: Parameters<typeof ownMetric>[0], ...names: string[]) =>
  names.map((name) => ownMetric(stage, name, "Maximum"));

const charts: Chart[] = [
  {
    title: "Events wait",
    metrics: [
      queueMetric(eventQueue, "ApproximateNumberOfMessagesVisible"),
      queueMetric(eventQueue, "ApproximateAgeOfOldestMessage"),
      queueMetric(eventDlq, "ApproximateNumberOfMessagesVisible"),
    ],
  },
  {
    title: "Events are recorded, and published at once (ingest)",
    metrics: [
      ...count("ingest", "recorded", "repeated", "refused", "notifications", "published", "failed"),
      functionMetric(ingest, "Errors"),
    ],
  },
  { title: "Owed, and for how long", metrics: most("sweep", "owed", "oldestOwedAge", "timeToDrain") },
  {
    title: "Sweeps publish",
    metrics: [
      ...count(
        "sweep",
        "sweeps",
        "leased",
        "published",
        "failed",
        "unsure",
        "cancelled",
        "rescued",
        "resent",
        ...(shadowQueue ? ["shadowed"] : []),
      ),
      functionMetric(sweep, "Duration"),
    ],
  },
  {
    title: "Notifications wait",
    metrics: [
      queueMetric(notificationQueue, "ApproximateNumberOfMessagesVisible"),
      queueMetric(notificationQueue, "ApproximateAgeOfOldestMessage"),
      queueMetric(notificationDlq, "ApproximateNumberOfMessagesVisible"),
    ],
  },
  {
    title: "Notifications are sent (deliver)",
    metrics: [
      ...count("deliver", "accepted", "refused", "throttled", "transient", "unknown", "notCalled", "closed"),
      functionMetric(deliver, "ConcurrentExecutions"),
    ],
  },
  {
    title: "The provider's events wait",
    metrics: [
      queueMetric(feedbackQueue, "ApproximateNumberOfMessagesVisible"),
      queueMetric(feedbackQueue, "ApproximateAgeOfOldestMessage"),
      queueMetric(feedbackDlq, "ApproximateNumberOfMessagesVisible"),
    ],
  },
  {
    title: "What became of them (feedback)",
    metrics: [
      ...count("feedback", "proven", "known", "bounced", "complained", "suppressed", "duplicate"),
      ...(settings.sms?.twoWay ? count("feedback", "heard") : []),
      functionMetric(feedback, "Errors"),
    ],
  },
  {
    title: "Bounces and complaints",
    metrics: [reputationMetric("Reputation.BounceRate"), reputationMetric("Reputation.ComplaintRate")],
  },
  ...(settings.sms
    ? [
        {
          title: "Texts of the whole account: parts, and dollars this month",
          metrics: [
            smsMetric("NumberOfTextMessagePartsSent"),
            smsMetric("NumberOfTextMessagePartsDelivered"),
            smsMetric("TextMessageMonthlySpend"),
          ],
        },
      ]
    : []),
  ...(deployed
    ? [
        {
          title: "Database",
          metrics: [
            databaseMetric(deployed, "DatabaseConnections"),
            databaseMetric(deployed, "CPUUtilization"),
            databaseMetric(deployed, "WriteLatency"),
          ],
        },
      ]
    : []),
];

/** Of CloudWatch's 24 columns. */
const width = 12;
const height = 6;

export const dashboard = new aws.cloudwatch.Dashboard("Dashboard", {
  dashboardName: prefix,
  dashboardBody: $jsonStringify({
    widgets: [
      {
        type: "alarm",
        x: 0,
        y: 0,
        width: 24,
        height: 3,
        properties: { title: "Alarms", alarms: alarms.map(({ arn }) => arn) },
      },
      ...charts.map(({ title, metrics }, place) => ({
        type: "metric",
        x: (place % 2) * width,
        y: 3 + Math.floor(place / 2) * height,
        width,
        height,
        properties: { title, region, period: 60, metrics: metrics.map(row) },
      })),
    ],
  }),
});

/** A metric as a dashboard writes it: namespace, name, each dimension with its value, how it is drawn. */
function row({ namespace, name, dimensions, statistic }: Metric) {
  return [namespace, name, ...Object.entries(dimensions).flat(), { stat: statistic }];
}
