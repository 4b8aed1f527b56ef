import { listRefusedEvents } from "@owed/ledger";
import { type Command, Option } from "commander";
import { actorOf, limit, refusedIds, text } from "../arguments.ts";
import { type Context, type Run, teach } from "../command.ts";
import { Failure } from "../errors.ts";
import type { Result } from "../output.ts";
import { type Chosen, giveBack } from "../refused/give-back.ts";
import { time } from "../text/time.ts";

/** Characters of a body that are printed unless all were asked for. */
const shown = 200;

type Options = {
  retry?: true | string[];
  all?: true;
  queue?: "event" | "feedback";
  again?: true;
  why?: string;
  limit: number;
  full?: true;
};

export function refused(program: Command, run: Run): void {
  teach(program, "refused", {
    summary: "events that were refused, and kept; and how they come back",
    description: `Events that could not be recorded, newest first, with their id, the queue they came by, the field that is wrong, and why. Control characters in their bodies are escaped. Of a large body the first 64 KiB are kept.
With --retry: gives kept bodies back, as they are, to the queue they came by, once what refused them is mended (a shipment was registered, the code corrected). One that is still wrong is refused and kept anew. One that was given back before is left, unless you say --again; one whose body was not kept whole can't be given back.`,
    changes:
      "nothing; with --retry the event or feedback queue, and the ledger keeps who gave it back. A corrected event is sent by the platform again, or with 'owed event'.",
    examples: [
      "refused",
      "refused --limit 1 --full",
      "refused --retry 17 18",
      "refused --retry --all --queue feedback",
    ],
  })
    .option("--limit <n>", "list at most so many", limit(1000), 20)
    .option("--full", `list the whole kept body, not its first ${shown} characters`)
    .option("--retry [id...]", "give these back to the queue they came by", refusedIds)
    .option("--all", "with --retry and --queue: all that were not given back yet")
    .addOption(
      new Option("--queue <queue>", "with --all: those that came by it").choices(["event", "feedback"]),
    )
    .option("--why <text>", "with --retry: why, for the record", text)
    .option("--again", "with --retry: also what was given back before")
    .action((options: Options, command: Command) => {
      const chosen = chosenBy(options);
      if (!chosen) return run("reads", (context) => list(context, options));
      const said = { actor: actorOf(command), why: options.why ?? null };
      return run("writes", (context) => giveBack(context, chosen, said));
    });
}

function chosenBy({ retry, all, queue, again }: Options): Chosen | null {
  if (retry === undefined) {
    if (all || queue || again) throw new Failure("usage", "--all, --queue and --again go with --retry");
    return null;
  }
  if (retry === true) {
    if (!all || !queue)
      throw new Failure(
        "usage",
        "say which to give back: --retry <id...>, or --retry --all --queue event|feedback",
      );
    return { queue, again: again === true };
  }
  if (all || queue)
    throw new Failure("usage", "give ids, or --all with --queue: each id goes to the queue it came by");
  return { ids: retry, again: again === true };
}

async function list({ ledger }: Context, options: Options): Promise<Result> {
  const events = (await listRefusedEvents(ledger, options.limit)).map(({ body, ...event }) => ({
    ...event,
    body: body.toString("utf8"),
  }));
  const lines = events.flatMap((event) => [
    `${time(event.refusedAt)}  ${event.id}  ${event.queue}  ${event.field} ${event.reason}  (${event.bytes} bytes${event.retriedAt ? `; given back ${time(event.retriedAt)} by ${event.retriedBy}` : ""})`,
    `  ${options.full ? event.body : cut(event.body)}`,
  ]);
  return { json: { refused: events }, lines: lines.length > 0 ? lines : ["No event was refused."] };
}

const cut = (body: string): string => (body.length > shown ? `${body.slice(0, shown)} …` : body);
