import { vi } from "vitest";

export type Output = {
  /** All that was written to standard output and standard error. */
  text(): string;
  /** The log lines and metrics among it: on Lambda each is one line of JSON. */
  lines(): Record<string, unknown>[];
  /** The metrics by name, of all lines together, with their units; fails on a line that breaks the metric format. */
  metrics(): { names: Record<string, string>; values: Record<string, number>; service: string };
  clear(): void;
  restore(): void;
};

/** Catches what this process writes, from now on. */
export function captureOutput(): Output {
  let text = "";
  const take = (chunk: string | Uint8Array) => {
    text += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");
    return true;
  };
  const spies = [
    vi.spyOn(process.stdout, "write").mockImplementation(take),
    vi.spyOn(process.stderr, "write").mockImplementation(take),
  ];
  const lines = () =>
    text
      .split("\n")
      .filter(Boolean)
      .map((line): Record<string, unknown> => JSON.parse(line));
  return {
    text: () => text,
    lines,
    metrics: () => readMetrics(lines()),
    clear: () => {
      text = "";
    },
    restore: () => {
      for (const spy of spies) spy.mockRestore();
    },
  };
}

type Directive = { Namespace: string; Dimensions: string[][]; Metrics: { Name: string; Unit: string }[] };

/** CloudWatch's embedded metric format: each metric that is declared stands beside with its value. */
function readMetrics(lines: Record<string, unknown>[]): ReturnType<Output["metrics"]> {
  const found = { names: {} as Record<string, string>, values: {} as Record<string, number>, service: "" };
  for (const line of lines) {
    const aws = line._aws as { Timestamp: number; CloudWatchMetrics: Directive[] } | undefined;
    for (const { Namespace, Dimensions, Metrics } of aws?.CloudWatchMetrics ?? []) {
      if (Namespace !== "Owed") throw new Error(`metrics in another namespace: ${Namespace}`);
      if (JSON.stringify(Dimensions) !== '[["service"]]') throw new Error("metrics of another dimension");
      if (!Number.isInteger(aws?.Timestamp)) throw new Error("metrics without a time");
      found.service = String(line.service);
      for (const { Name, Unit } of Metrics) {
        const value = [line[Name]].flat();
        if (!value.every((one) => typeof one === "number")) throw new Error(`${Name} has no number`);
        found.names[Name] = Unit;
        found.values[Name] = value.reduce((sum: number, one) => sum + Number(one), found.values[Name] ?? 0);
      }
    }
  }
  return found;
}
