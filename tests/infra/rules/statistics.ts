import { metricsOf } from "../stack/metrics.ts";
import { alarmsOf } from "../stack/views.ts";
import { type Rule, unless } from "./rule.ts";

/** An age, a depth or a level is as bad as it was at its worst; everything else is counted. */
const worst: [metric: RegExp, statistic: string][] = [
  [/Age|Visible$|Connections$|Rate$|Utilization$|Latency$|Spend$|^timeToDrain$|^owed$/, "Maximum"],
  [/^Free|Balance$/, "Minimum"],
];

const statisticOf = (name: string): string => worst.find(([metric]) => metric.test(name))?.[1] ?? "Sum";

export const statisticRules: Rule[] = [
  {
    name: "an alarm judges an age or a depth by its worst, and a count by its sum",
    check: (stack) =>
      unless(
        alarmsOf(stack).flatMap(metricsOf),
        ({ name, statistic }) => statistic === statisticOf(name),
        ({ by, name, statistic }) => `${by} judges ${name} by its ${statistic}, not its ${statisticOf(name)}`,
      ),
  },
  {
    // CloudWatch user guide, "Using math expressions": arithmetic takes what is missing as 0, and FILL may hold an alarm.
    name: "an alarm fills no gaps: data that comes late would never be seen",
    check: (stack) =>
      unless(
        alarmsOf(stack),
        ({ inputs }) => inputs.metricQueries.every(({ expression = "" }) => !expression.includes("FILL(")),
        ({ name }) => `${name} does`,
      ),
  },
];
