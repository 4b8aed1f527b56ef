import {
  type Compared,
  compare as compareSenders,
  type Difference,
  listDifferences,
  readModes,
} from "@owed/ledger";
import type { Command } from "commander";
import { instant, limit, text } from "../arguments.ts";
import { type Run, teach } from "../command.ts";
import { Failure } from "../errors.ts";
import { explain } from "../rollout/explain.ts";
import { table } from "../text/table.ts";
import { duration, time } from "../text/time.ts";

type Options = { merchant?: string; since?: string; until?: string; limit: number };

export function compare(program: Command, run: Run): void {
  teach(program, "compare", {
    summary: "what Owed would have sent beside what the old sender did",
    description:
      "Compares, notification by notification, what Owed published in shadow with what the old sender said that it sent: by the hour in which it was due, channel and template. Both; only Owed would have; only the old sender did; neither (Owed would not: expired, superseded …); waiting: no sweep has judged it yet; Owed itself: sent after the cutover; twice: sent by both, or more than once. Then the differences, each with its reason as far as the ledger knows it. between: from Owed's publishing to the old sender's send, the middle one and the one furthest off.",
    changes: "nothing.",
    examples: [
      "compare",
      "compare --merchant shop-7 --since 2026-03-28T00:00:00+01:00",
      "compare --json | jq '.differences[].id'",
    ],
  })
    .option("--merchant <id>", "this one alone", text)
    .option("--since <time>", "due, or sent, from then on (default: 24 hours ago)", instant)
    .option("--until <time>", "and before then (default: now)", instant)
    .option("--limit <n>", "at most so many differences", limit(10_000), 50)
    .action(({ merchant, since, until, limit: most }: Options) =>
      run("reads", async ({ ledger }) => {
        if (merchant !== undefined && (await readModes(ledger, merchant, 1)).merchants.length === 0)
          throw new Failure(
            "not_found",
            `the ledger knows no merchant ${merchant}: 'owed cutover' lists them`,
          );
        const filter = { merchant: merchant ?? null, since: since ?? null, until: until ?? null };
        const [hours, found] = await Promise.all([
          compareSenders(ledger, filter),
          listDifferences(ledger, filter, most + 1),
        ]);
        const differences = found.slice(0, most).map((row) => ({ ...row, why: explain(row) }));
        const more = found.length > differences.length;
        return {
          json: { total: totalOf(hours), hours, differences, more },
          lines: lines(hours, differences, more),
        };
      }),
    );
}

const counted = ["both", "onlyNew", "onlyOld", "neither", "waiting", "owed", "twice"] as const;
type Counts = Record<(typeof counted)[number], number>;

function totalOf(hours: readonly Compared[]): Counts {
  const total: Counts = { both: 0, onlyNew: 0, onlyOld: 0, neither: 0, waiting: 0, owed: 0, twice: 0 };
  for (const hour of hours) for (const name of counted) total[name] += hour[name];
  return total;
}

function lines(
  hours: readonly Compared[],
  differences: readonly (Difference & { why: string })[],
  more: boolean,
): string[] {
  if (hours.length === 0) return ["Nothing was due in shadow, and the old sender told of nothing else."];
  const between = ({ betweenMiddle, betweenMost }: Compared) =>
    betweenMiddle === null || betweenMost === null
      ? null
      : `${signed(betweenMiddle)} (${signed(betweenMost)})`;
  const total = totalOf(hours);
  const head = [
    "hour",
    "channel",
    "template",
    "both",
    "only Owed",
    "only old",
    "neither",
    "waiting",
    "Owed itself",
    "twice",
    "between",
  ];
  return [
    ...table(head, [
      ...hours.map((row) => [
        time(row.hour).slice(0, 16),
        row.channel,
        row.template,
        ...counted.map((name) => row[name]),
        between(row),
      ]),
      ["in all", "", "", ...counted.map((name) => total[name]), ""],
    ]),
    "",
    ...(differences.length === 0
      ? ["No differences."]
      : table(
          [
            "due or sent",
            "merchant",
            "event",
            "recipient",
            "channel",
            "template",
            "which",
            "why",
            "notification",
          ],
          differences.map((row) => [
            time(row.dueAt ?? row.oldSentAt),
            row.merchant,
            row.event,
            row.recipient,
            row.channel,
            row.template,
            which[row.verdict],
            row.why,
            row.id,
          ]),
        )),
    ...(more ? ["… and more: --limit"] : []),
  ];
}

const which = { only_new: "only Owed", only_old: "only old", twice: "twice" } as const;

const signed = (seconds: number) => `${seconds < 0 ? "-" : "+"}${duration(Math.abs(seconds))}`;
