import { topic } from "./alarm-topic.ts";
import type { Metric } from "./metrics.ts";
import { prefix } from "./stage.ts";

export type AlarmOptions = {
  /** What it means, and what to do first. */
  says: string;
  metric: Metric | Metric[];
  /** It alarms when the metric, or the sum of the metrics, is… */
  is: { above: number } | { below: number };
  /** Seconds of a period. */
  period: number;
  /** Periods in a row. */
  periods?: number;
  /** No data is the fault itself. */
  missingIsBad?: boolean;
  /** A level that is only written when it changes: without data it is as it was. */
  missingIsSame?: boolean;
};

/** All alarms, for the dashboard. */
export const alarms: aws.cloudwatch.MetricAlarm[] = [];

/** An alarm `<prefix>-<name>`, which says when it begins and when it ends. */
export function createAlarm(
  name: string,
  { says, metric, is, period, periods = 1, missingIsBad, missingIsSame }: AlarmOptions,
): void {
  const metrics = Array.isArray(metric) ? metric : [metric];
  const [first] = metrics;
  if (!first) throw new Error(`the alarm ${name} has no metric`);
  const one = {
    namespace: first.namespace,
    metricName: first.name,
    dimensions: first.dimensions,
    statistic: first.statistic,
    period,
  };
  alarms.push(
    new aws.cloudwatch.MetricAlarm(`${name}Alarm`, {
      name: `${prefix}-${name}`,
      alarmDescription: says,
      ...(metrics.length === 1 ? one : { metricQueries: sumOf(metrics, period) }),
      evaluationPeriods: periods,
      datapointsToAlarm: periods,
      comparisonOperator: "above" in is ? "GreaterThanThreshold" : "LessThanThreshold",
      threshold: "above" in is ? is.above : is.below,
      treatMissingData: missingIsBad ? "breaching" : missingIsSame ? "ignore" : "notBreaching",
      alarmActions: [topic.arn],
      okActions: [topic.arn],
    }),
  );
}

/**
 * Metrics that are written only when there is something to count. A sum takes what is missing as 0, and is missing when
 * all are. FILL would put its 0 in the place of data that comes late, and could hold the alarm in OK (CloudWatch user
 * guide, "Using math expressions with CloudWatch metrics").
 */
const sumOf = (metrics: readonly Metric[], period: number) => [
  {
    id: "sum",
    label: "sum",
    returnData: true,
    expression: metrics.map((_, place) => `m${place}`).join(" + "),
  },
  ...metrics.map(({ namespace, name, dimensions, statistic }, place) => ({
    id: `m${place}`,
    metric: { namespace, metricName: name, dimensions, stat: statistic, period },
  })),
];
