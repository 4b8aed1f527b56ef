import { readStatus, type Status, states } from "@owed/ledger";
import type { Command } from "commander";
import { type Run, teach } from "../command.ts";
import { duration, time } from "../text/time.ts";

export function status(program: Command, run: Run): void {
  teach(program, "status", {
    summary: "what is owed now, how old it is, and how long it will take",
    description:
      "What is owed now (due, and neither in the queue nor with a worker), the age of the oldest, the time to drain it at the pace of the last sweeps, and how many notifications are in each state.",
    changes: "nothing.",
    examples: ["status", "status --json | jq .owed"],
  }).action(() =>
    run("reads", async ({ ledger }) => {
      const now = await readStatus(ledger);
      return { json: now, lines: lines(now) };
    }),
  );
}

/** Exported for the tests. */
export function lines(now: Status): string[] {
  const drain =
    now.owed === 0
      ? "nothing to drain"
      : now.timeToDrain === null
        ? "not known: no sweep has published yet"
        : duration(now.timeToDrain);
  const said: [string, string][] = [
    ["owed now", String(now.owed)],
    ["oldest owed", now.owed === 0 ? "-" : `${duration(now.oldestOwedAge)} old`],
    ["time to drain", drain],
    ["last sweep", now.lastSweepAt ? time(now.lastSweepAt) : "none in the last 30 days"],
    ["sweeps", sweeps(now)],
    ["wait for a person", now.stopped === 0 ? "0" : `${now.stopped} (owed dead)`],
    ["duplicates", `${now.duplicates} certain, ${now.possibleDuplicates} possible`],
    ...states.map((state): [string, string] => [state, String(now.states[state])]),
  ];
  return said.map(([name, value]) => `${name.padEnd(19)}${value}`);
}

function sweeps({ paused }: Status): string {
  if (!paused) return "on";
  const why = paused.why ? `: ${paused.why}` : "";
  return `paused by ${paused.by} since ${time(paused.at)}${why} (owed resume)`;
}
