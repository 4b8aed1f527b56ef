import { listRefusedEvents } from "@owed/ledger";
import type { Command } from "commander";
import { limit } from "../arguments.ts";
import { type Run, teach } from "../command.ts";
import { time } from "../text/time.ts";

/** Characters of a body that are printed unless all were asked for. */
const shown = 200;

export function refused(program: Command, run: Run): void {
  teach(program, "refused", {
    summary: "events that were refused, and kept for a look",
    description:
      "Events that could not be recorded, newest first, with the field that is wrong, and why. Control characters in their bodies are escaped. Of a large body the first 64 KiB are kept.",
    changes: "nothing. A corrected event is sent by the platform again, or with 'owed event'.",
    examples: ["refused", "refused --limit 1 --full"],
  })
    .option("--limit <n>", "at most so many", limit(1000), 20)
    .option("--full", `the whole kept body, not its first ${shown} characters`)
    .action((options: { limit: number; full?: true }) =>
      run("reads", async ({ ledger }) => {
        const events = (await listRefusedEvents(ledger, options.limit)).map(({ body, ...event }) => ({
          ...event,
          body: body.toString("utf8"),
        }));
        const lines = events.flatMap((event) => [
          `${time(event.refusedAt)}  ${event.field} ${event.reason}  (${event.bytes} bytes)`,
          `  ${options.full ? event.body : cut(event.body)}`,
        ]);
        return { json: { refused: events }, lines: lines.length > 0 ? lines : ["No event was refused."] };
      }),
    );
}

const cut = (body: string): string => (body.length > shown ? `${body.slice(0, shown)} …` : body);
