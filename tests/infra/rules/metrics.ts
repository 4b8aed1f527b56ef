import { drawnMetricsOf, type Metric, watchedMetricsOf } from "../stack/metrics.ts";
import type { Stack } from "../stack/stack.ts";
import { databasesOf, eventRulesOf, lambdasOf, queuesOf } from "../stack/views.ts";
import { type Rule, unless } from "./rule.ts";
import { namespaceOf, writtenMetrics } from "./written-metrics.ts";

/** A service's metrics with the dimensions that they have (each service's guide, "CloudWatch metrics"). */
const services: Record<string, { names: string[]; dimensions: string[] }> = {
  "AWS/SQS": {
    names: [
      "ApproximateAgeOfOldestMessage",
      "ApproximateNumberOfMessagesDelayed",
      "ApproximateNumberOfMessagesNotVisible",
      "ApproximateNumberOfMessagesVisible",
      "NumberOfMessagesDeleted",
      "NumberOfMessagesReceived",
      "NumberOfMessagesSent",
    ],
    dimensions: ["QueueName"],
  },
  "AWS/Lambda": {
    names: ["ConcurrentExecutions", "Duration", "Errors", "Invocations", "Throttles"],
    dimensions: ["FunctionName"],
  },
  "AWS/RDS": {
    names: [
      "BurstBalance",
      "CPUCreditBalance",
      "CPUUtilization",
      "DatabaseConnections",
      "FreeStorageSpace",
      "FreeableMemory",
      "MaximumUsedTransactionIDs",
      "OldestReplicationSlotLag",
      "ReadLatency",
      "WriteLatency",
    ],
    dimensions: ["DBInstanceIdentifier"],
  },
  "AWS/SES": {
    names: ["Reputation.BounceRate", "Reputation.ComplaintRate"],
    dimensions: ["ses:configuration-set"],
  },
  // Those without a dimension are of the whole account.
  "AWS/SMSVoice": {
    names: ["NumberOfTextMessagePartsDelivered", "NumberOfTextMessagePartsSent", "TextMessageMonthlySpend"],
    dimensions: [],
  },
  "AWS/SNS": {
    names: ["NumberOfNotificationsDelivered", "NumberOfNotificationsFailed"],
    dimensions: ["TopicName"],
  },
  "AWS/Events": { names: ["FailedInvocations", "Invocations"], dimensions: ["RuleName"] },
};

/** The values that a dimension can have in this stack. */
function valuesOf(stack: Stack, dimension: string): string[] {
  const names: Record<string, () => unknown[]> = {
    QueueName: () => queuesOf(stack).map(({ inputs }) => inputs.name),
    FunctionName: () => lambdasOf(stack).map(({ inputs }) => inputs.name),
    DBInstanceIdentifier: () => databasesOf(stack).map(({ inputs }) => inputs.identifier),
    RuleName: () => eventRulesOf(stack).map(({ inputs }) => inputs.name),
    EventBusName: () => eventRulesOf(stack).map(({ inputs }) => inputs.eventBusName),
    "ses:configuration-set": () =>
      stack
        .all("aws:sesv2/configurationSet:ConfigurationSet")
        .map(({ inputs }) => inputs.configurationSetName),
    TopicName: () => stack.all("aws:sns/topic:Topic").map(({ inputs }) => inputs.name),
    service: () => [...writtenMetrics.keys()],
  };
  return (names[dimension]?.() ?? []).map(String);
}

const isOwn = ({ namespace }: Metric): boolean => !namespace.startsWith("AWS/");
const looksAt = ({ by, namespace, name }: Metric): string => `${by} looks at ${namespace} ${name}`;
const looked = (stack: Stack): Metric[] => [...watchedMetricsOf(stack), ...drawnMetricsOf(stack)];

/** Rules of the default bus have no other dimension, those of another bus have it too (EventBridge user guide). */
function dimensionsWanted(stack: Stack, { namespace, dimensions }: Metric): string[] {
  if (namespace !== "AWS/Events") return services[namespace]?.dimensions ?? ["service"];
  const rule = eventRulesOf(stack).find(({ inputs }) => inputs.name === dimensions.RuleName);
  return rule && rule.inputs.eventBusName !== "default" ? ["EventBusName", "RuleName"] : ["RuleName"];
}

export const metricRules: Rule[] = [
  {
    name: "a metric that is looked at is one that its service writes",
    check: (stack) =>
      unless(
        looked(stack).filter((metric) => !isOwn(metric)),
        ({ namespace, name }) => services[namespace]?.names.includes(name) ?? false,
        (metric) => `${looksAt(metric)}, which AWS does not write`,
      ),
  },
  {
    name: "a metric of ours that is looked at is one that its function writes",
    check: (stack) =>
      unless(
        looked(stack).filter(isOwn),
        ({ name, dimensions }) => writtenMetrics.get(dimensions.service ?? "")?.has(name) ?? false,
        (metric) => `${looksAt(metric)}, which ${metric.dimensions.service ?? "no function"} does not write`,
      ),
  },
  {
    name: "functions write to the namespace that is looked at",
    check: (stack) => {
      const written = new Set(
        lambdasOf(stack).map(({ inputs }) => namespaceOf(inputs.environment.variables)),
      );
      const read = new Set(
        looked(stack)
          .filter(isOwn)
          .map(({ namespace }) => namespace),
      );
      return unless(
        [...read],
        (namespace) => written.size === 1 && written.has(namespace),
        (namespace) => `${namespace} is looked at, and the functions write to ${[...written].join(", ")}`,
      );
    },
  },
  {
    name: "a metric has the dimensions that its service gives it",
    check: (stack) =>
      unless(
        looked(stack),
        (metric) =>
          Object.keys(metric.dimensions).toSorted().join() ===
          dimensionsWanted(stack, metric).toSorted().join(),
        (metric) =>
          `${looksAt(metric)} by ${Object.keys(metric.dimensions).join(", ") || "no dimension"}, and it has ${dimensionsWanted(stack, metric).join(", ")}`,
      ),
  },
  {
    name: "a dimension names something of this stack",
    check: (stack) =>
      looked(stack).flatMap((metric) =>
        Object.entries(metric.dimensions)
          .filter(([dimension, value]) => !valuesOf(stack, dimension).includes(value))
          .map(
            ([dimension, value]) =>
              `${looksAt(metric)} of ${dimension} ${value || "(empty)"}, which is not there`,
          ),
      ),
  },
];
