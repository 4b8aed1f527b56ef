import type { Stack } from "./stack.ts";
import { type Alarm, alarmsOf } from "./views.ts";

/** A metric that an alarm or the dashboard looks at. */
export type Metric = {
  /** Who looks at it. */
  by: string;
  namespace: string;
  name: string;
  dimensions: Record<string, string>;
  statistic: string;
  /** Seconds; null on the dashboard. */
  period: number | null;
};

/** The metrics of one alarm: its own, or those that it calculates with. */
export function metricsOf({ name: by, inputs }: Alarm): Metric[] {
  const { namespace = "", metricName: name = "", dimensions, statistic = "", period = 0 } = inputs;
  if (inputs.metricQueries.length === 0) return [{ by, namespace, name, dimensions, statistic, period }];
  return inputs.metricQueries.flatMap(({ metric }) =>
    metric ? [{ by, ...metric, name: metric.metricName, statistic: metric.stat }] : [],
  );
}

type Widget = { properties: { metrics?: (string | { stat?: string })[][]; alarms?: string[] } };

const widgetsOf = (stack: Stack): Widget[] =>
  stack
    .all("aws:cloudwatch/dashboard:Dashboard")
    .flatMap(({ inputs }) => (JSON.parse(String(inputs.dashboardBody)) as { widgets: Widget[] }).widgets);

/** All that the dashboard draws: namespace, name, then dimensions and values in turn, and how. */
export const drawnMetricsOf = (stack: Stack): Metric[] =>
  widgetsOf(stack).flatMap(({ properties: { metrics = [] } }) =>
    metrics.map((row) => {
      const [namespace = "", name = "", ...rest] = row.filter((part) => typeof part === "string");
      const options = row.find((part) => typeof part !== "string");
      const pairs = rest.flatMap((dimension, place) =>
        place % 2 === 0 ? [[dimension, rest[place + 1] ?? ""] as const] : [],
      );
      const statistic = options?.stat ?? "Average";
      return {
        by: "Dashboard",
        namespace,
        name,
        dimensions: Object.fromEntries(pairs),
        statistic,
        period: null,
      };
    }),
  );

/** The alarms that the dashboard shows, by ARN. */
export const shownAlarmsOf = (stack: Stack): string[] =>
  widgetsOf(stack).flatMap(({ properties: { alarms = [] } }) => alarms);

export const watchedMetricsOf = (stack: Stack): Metric[] => alarmsOf(stack).flatMap(metricsOf);
