import { type Channel, readChannels, readStatus, type Status, states } from "@owed/ledger";
import type { Command } from "commander";
import { type Run, teach } from "../command.ts";
import { closing } from "../text/channel.ts";
import { drainText, longestDrain } from "../text/drain.ts";
import { table } from "../text/table.ts";
import { duration, time } from "../text/time.ts";

export function status(program: Command, run: Run): void {
  teach(program, "status", {
    summary: "what is owed now, how old it is, and how long it will take",
    description:
      "What is owed now (due, and neither in the queue nor with a worker), the age of the oldest, the time to drain it, and how many notifications are in each state. Then each channel: whether it is open, why not and until when, its provider's rate (messages a second), how much of its quota of 24 hours is used, what is due and what the queue and the workers have, and its time to drain: by the rate, else by the pace of the last sweeps.",
    changes: "nothing.",
    examples: ["status", "status --json | jq .owed", "status --json | jq '.channels[] | select(.closed)'"],
  }).action(() =>
    run("reads", async ({ ledger, settings }) => {
      const { durations } = await settings();
      const [now, channels] = await Promise.all([readStatus(ledger), readChannels(ledger, durations)]);
      const timeToDrain = longestDrain(channels);
      return { json: { ...now, timeToDrain, channels }, lines: lines(now, channels) };
    }),
  );
}

function lines(now: Status, channels: readonly Channel[]): string[] {
  const said: [string, string][] = [
    ["owed now", String(now.owed)],
    ["oldest owed", now.owed === 0 ? "-" : `${duration(now.oldestOwedAge)} old`],
    ["time to drain", drainText(now, channels)],
    ["last sweep", now.lastSweepAt ? time(now.lastSweepAt) : "none in the last 30 days"],
    ["sweeps", sweeps(now)],
    ["wait for a person", now.stopped === 0 ? "0" : `${now.stopped} (owed dead)`],
    ["duplicates", `${now.duplicates} certain, ${now.possibleDuplicates} possible`],
    ...states.map((state): [string, string] => [state, String(now.states[state])]),
  ];
  return [
    ...said.map(([name, value]) => `${name.padEnd(19)}${value}`),
    "",
    ...table(
      ["channel", "is", "due", "in the queue", "rate", "used of its quota", "time to drain"],
      channels.map((channel) => [
        channel.name,
        channel.closed ? "closed" : "open",
        channel.due,
        channel.inQueue,
        channel.rate === null ? null : `${channel.rate}/s`,
        channel.quota === null ? null : `${channel.used ?? "?"} of ${channel.quota}`,
        channel.timeToDrain === null ? "not known" : duration(channel.timeToDrain),
      ]),
    ),
    ...channels.flatMap(({ name, closed }) => (closed ? [`${name} is ${closing(name, closed)}`] : [])),
  ];
}

function sweeps({ paused }: Status): string {
  if (!paused) return "on";
  const why = paused.why ? `: ${paused.why}` : "";
  return `paused by ${paused.by} since ${time(paused.at)}${why} (owed resume)`;
}
