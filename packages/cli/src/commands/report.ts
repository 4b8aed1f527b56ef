import type { Command } from "commander";
import { duration as durationOf, instant, text } from "../arguments.ts";
import { type Run, teach } from "../command.ts";
import { findOutages, gapOf } from "../report/find.ts";
import { page } from "../report/text.ts";
import { duration } from "../text/time.ts";
import { plural } from "../text/words.ts";

type Options = { since?: string; until?: string; gap?: number; merchant?: string; full?: boolean };

export function report(program: Command, run: Run): void {
  teach(program, "report", {
    summary: "the outages, and the proof of what became of all that was owed in them",
    description:
      "Finds the outages by itself: times without a sweep that worked. For each: what fell due in it or waited when it began, what was sent and how late, what ended otherwise and why, when all was done, and whether anything is still owed. With --json also how it went, minute by minute. Exits with 1 when a sum does not add up.",
    changes: "nothing.",
    examples: [
      "report",
      "report --since 2026-03-29T09:30:00+02:00",
      "report --gap 10m --merchant shop-7 --json",
    ],
  })
    .option("--since <time>", "RFC 3339 with offset (default: 7 days ago)", instant)
    .option("--until <time>", "RFC 3339 with offset (default: now)", instant)
    .option(
      "--gap <duration>",
      "without a sweep for so long it is an outage (default: 3 beats of the schedule)",
      durationOf,
    )
    .option("--merchant <id>", "this merchant's notifications alone", text)
    .option("--full", "what is still owed one by one, with ids; it is counted otherwise")
    .action(({ since, until, gap: given, merchant, full = false }: Options) =>
      run("reads", async ({ ledger, settings }) => {
        const gap = given ?? gapOf(await settings());
        const asked = { since: since ?? null, until: until ?? null, gap, merchant: merchant ?? null };
        const found = await findOutages(ledger, asked);
        const span = since === undefined ? "in the last 7 days" : `since ${since}`;
        const till = until === undefined ? "" : ` until ${until}`;
        return {
          json: found,
          lines: [
            `${plural(found.outages.length, "outage")} ${span}${till}: no sweep for more than ${duration(gap)}`,
            "",
            ...page(found, full),
          ],
          exitCode: found.addsUp ? 0 : 1,
        };
      }),
    );
}
