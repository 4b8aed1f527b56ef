import { listStopped, type Stopped } from "@owed/ledger";
import type { Command } from "commander";
import { adviceFor } from "../advice.ts";
import { limit, text } from "../arguments.ts";
import { type Run, teach } from "../command.ts";
import { table } from "../text/table.ts";
import { time } from "../text/time.ts";

type Options = { shipment?: string; channel?: string; reason?: string; unknown?: true; limit: number };

export function dead(program: Command, run: Run): void {
  teach(program, "dead", {
    summary: "what waits for a person, why, and what to do",
    description:
      "Notifications that stopped, the longest first: dead ones (exhausted, or refused for good), and unknown ones that are held for a person. Says why, and what can be done.",
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
        const rows = found.slice(0, options.limit).map((row) => ({ ...row, advice: adviceFor(row) }));
        const more = found.length > rows.length;
        return { json: { stopped: rows, more }, lines: lines(rows, more) };
      }),
    );
}

function lines(rows: readonly (Stopped & { advice: string })[], more: boolean): string[] {
  if (rows.length === 0) return ["Nothing waits for a person."];
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
      row.reason,
    ]),
  );
  const advice = [...Map.groupBy(rows, (row) => row.advice)].map(
    ([what, of]) => `  ${[...new Set(of.map(codeOf))].slice(0, 5).join(", ")}: ${what}`,
  );
  const redrive =
    "  redrive: owed redrive <notification> --why …   cancel: owed cancel <notification> --why …";
  return [...list, ...(more ? ["… and more: --limit"] : []), "", "What to do:", ...advice, redrive];
}

/** The code word that a reason starts with. */
const codeOf = ({ state, reason }: Stopped): string =>
  state === "unknown" ? "unknown" : (reason.split(":")[0] ?? reason);
