import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createLogger, createMetrics } from "../../../packages/functions/src/observe.ts";
import { repository } from "../synth/platform.ts";

/** Where a function's own metrics have their names from, and how they stand there: in group 1, one or a list of them. */
type Source = [file: string, names: RegExp];

const counted: Source = ["functions/src/consumer.ts", /addMetric\("(\w+)"/g];

const sources: Record<string, Source[]> = {
  ingest: [counted, ["functions/src/ingest/ingest.ts", /counts = \{([^}]*)\}/g]],
  sweep: [
    ["functions/src/sweep/handler.ts", /addMetric\("(\w+)"/g],
    ["functions/src/sweep/handler.ts", /counted = \[([^\]]*)\]/g],
    ["functions/src/sweep/sweep.ts", /swept: false; why: ([^}]*)\}/g],
  ],
  deliver: [
    counted,
    ["functions/src/deliver/deliver.ts", /tally\("(\w+)"\)/g],
    ["channel/src/channel.ts", /outcome: "(\w+)"/g],
  ],
  feedback: [counted, ["functions/src/feedback/feedback.ts", /\.\.\.\{([^}]*)\}/g]],
};

const words = (list: string): string[] => list.match(/[A-Za-z]\w*/g) ?? [];

/** By function, the names of the metrics that it writes, read from its sources. */
export const writtenMetrics: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(sources).map(([stage, found]) => [stage, new Set(found.flatMap(namesIn))]),
);

function namesIn([file, names]: Source): string[] {
  const source = readFileSync(join(repository, "packages", file), "utf8");
  const found = [...source.matchAll(names)].flatMap(([, list = ""]) => words(list));
  if (found.length > 0) return found;
  throw new Error(
    `packages/${file} names no metric as ${names} finds it; correct tests/infra/rules/written-metrics.ts`,
  );
}

/** The namespace that a function with this environment writes to, by its own word. */
export function namespaceOf(variables: Record<string, string>): string {
  const before = process.env.POWERTOOLS_METRICS_NAMESPACE;
  const given = variables.POWERTOOLS_METRICS_NAMESPACE;
  try {
    if (given === undefined) delete process.env.POWERTOOLS_METRICS_NAMESPACE;
    else process.env.POWERTOOLS_METRICS_NAMESPACE = given;
    const metrics = createMetrics("synthesis", createLogger("synthesis"));
    metrics.addMetric("any", "Count", 1);
    return metrics.serializeMetrics()._aws.CloudWatchMetrics[0]?.Namespace ?? "none";
  } finally {
    if (before === undefined) delete process.env.POWERTOOLS_METRICS_NAMESPACE;
    else process.env.POWERTOOLS_METRICS_NAMESPACE = before;
  }
}
