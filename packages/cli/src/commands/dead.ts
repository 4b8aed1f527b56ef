import { listStopped, readMoot, type Stopped } from "@owed/ledger";
import type { Command } from "commander";
import { adviceFor } from "../advice.ts";
import { limit, text } from "../arguments.ts";
import { type Run, teach } from "../command.ts";
import { mootText } from "../text/moot.ts";
import { table } from "../text/table.ts";
import { time } from "../text/time.ts";

type Options = { shipment?: string; channel?: string; reason?: string; unknown?: true; limit: number };

export function dead(program: Command, run: Run): void {
  teach(program, "dead", {
    summary: "what waits for a person, why, and what to do",
    description:
      "Notifications that stopped, the longest first: dead ones (exhausted, or refused for good), and unknown ones that are held for a person. Says why, what can be done, and which of them are no longer true: a redrive leaves those as they are.",
    changes: "nothing.",
    examples: ["dead", "dead --reason no_address --limit 10", "dead --unknown"],
  })
    .option("--shipment <id>", "of one shipment", text)
    .option("--channel <channel>", "of one channel, such as email", text)
    .option("--reason <start>", "whose reason starts so, such as no_address", text)
    .option("--unknown", "only those whose outcome is unknown")
    .option("--limit <n>", "at most so many", limit(10_000), 50)
    .action((options: Options) =>
      run("reads", async ({ ledger }) => {
        const found = await listStopped(ledger, {
          state: options.unknown && "unknown",
          shipmentId: options.shipment,
          channel: options.channel,
          reason: options.reason,
          limit: options.limit + 1,
        });
        const stopped = found.slice(0, options.limit);
        const moot = await readMoot(
          ledger,
          stopped.map(({ id }) => id),
        );
        const rows = stopped.map((row) => {
          const judged = { ...row, moot: moot.get(row.id) ?? null };
          return { ...judged, advice: adviceFor(judged) };
        });
        const more = found.length > rows.length;
        return { json: { stopped: rows, more }, lines: lines(rows, more) };
      }),
    );
}

type Row = Stopped & { moot: string | null; advice: string };

function lines(rows: readonly Row[], more: boolean): string[] {
  if (rows.length === 0) return ["Nothing that fits waits for a person."];
  const list = table(
    ["since", "state", "shipment", "status", "recipient", "channel", "tries", "notification", "reason"],
    rows.map((row) => [
      time(row.stoppedAt),
      row.state,
      row.shipmentId,
      row.status,
      row.recipientId,
      row.channel,
      row.attempts,
      row.id,
      row.moot ? `${row.reason}; ${mootText(row.moot)}` : row.reason,
    ]),
  );
  const advice = [...Map.groupBy(rows, (row) => row.advice)].map(
    ([what, of]) => `  ${[...new Set(of.map(codeOf))].slice(0, 5).join(", ")}: ${what}`,
  );
  const redrive =
    "  redrive: owed redrive <notification> --why …   cancel: owed cancel <notification> --why …";
  return [...list, ...(more ? ["… and more: --limit"] : []), "", "What to do:", ...advice, redrive];
}

/** The code word that a reason starts with, and why a dead one is not sent again. */
function codeOf({ state, reason, moot }: Row): string {
  if (state === "unknown") return "unknown";
  const code = reason.split(":")[0] ?? reason;
  return moot ? `${code}, and ${moot}` : code;
}
