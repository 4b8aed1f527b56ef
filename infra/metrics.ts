import { configurationSet } from "./email.ts";
import { metricsNamespace } from "./stage.ts";

/** A metric as CloudWatch knows it: used by an alarm and by the dashboard. */
export type Metric = {
  namespace: string;
  name: string;
  dimensions: Record<string, $util.Input<string>>;
  statistic: "Sum" | "Maximum" | "Average" | "Minimum";
};

/** One of the functions' own, in the embedded metric format (packages/functions/src/observe.ts). */
export const ownMetric = (
  stage: "ingest" | "sweep" | "deliver" | "feedback",
  name: string,
  statistic: Metric["statistic"] = "Sum",
): Metric => ({ namespace: metricsNamespace, name, dimensions: { service: stage }, statistic });

export const queueMetric = (
  queue: sst.aws.Queue,
  name: "ApproximateNumberOfMessagesVisible" | "ApproximateAgeOfOldestMessage" | "NumberOfMessagesSent",
): Metric => ({
  namespace: "AWS/SQS",
  name,
  dimensions: { QueueName: queue.nodes.queue.name },
  statistic: name === "NumberOfMessagesSent" ? "Sum" : "Maximum",
});

export const functionMetric = (
  { name: FunctionName }: sst.aws.Function,
  name: "Errors" | "Throttles" | "Duration" | "ConcurrentExecutions",
): Metric => ({
  namespace: "AWS/Lambda",
  name,
  dimensions: { FunctionName },
  statistic: name === "Errors" || name === "Throttles" ? "Sum" : "Maximum",
});

export const ruleMetric = (
  { name: RuleName, eventBusName }: aws.cloudwatch.EventRule,
  own: boolean,
): Metric => ({
  namespace: "AWS/Events",
  name: "FailedInvocations",
  // Rules of the default bus are counted without their bus.
  dimensions: own
    ? { EventBusName: eventBusName.apply((name) => name ?? "default"), RuleName }
    : { RuleName },
  statistic: "Sum",
});

/** The rates of this stage's emails alone, as fractions of one. */
export const reputationMetric = (name: "Reputation.BounceRate" | "Reputation.ComplaintRate"): Metric => ({
  namespace: "AWS/SES",
  name,
  dimensions: { "ses:configuration-set": configurationSet.configurationSetName },
  statistic: "Maximum",
});

/** Of all texts of the account in this region: AWS counts them by no configuration set. */
export const smsMetric = (
  name: "TextMessageMonthlySpend" | "NumberOfTextMessagePartsSent" | "NumberOfTextMessagePartsDelivered",
): Metric => ({
  namespace: "AWS/SMSVoice",
  name,
  dimensions: {},
  statistic: name === "TextMessageMonthlySpend" ? "Maximum" : "Sum",
});

export const topicMetric = (
  { name: TopicName }: aws.sns.Topic,
  name: "NumberOfNotificationsFailed",
): Metric => ({ namespace: "AWS/SNS", name, dimensions: { TopicName }, statistic: "Sum" });

export const databaseMetric = (
  { identifier: DBInstanceIdentifier }: aws.rds.Instance,
  name: "DatabaseConnections" | "FreeStorageSpace" | "CPUUtilization" | "WriteLatency",
): Metric => ({
  namespace: "AWS/RDS",
  name,
  dimensions: { DBInstanceIdentifier },
  statistic: name === "FreeStorageSpace" ? "Minimum" : name === "DatabaseConnections" ? "Maximum" : "Average",
});
