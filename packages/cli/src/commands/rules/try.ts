import { tryRules, type WouldTell } from "@owed/ledger";
import type { Command } from "commander";
import { instant, text } from "../../arguments.ts";
import { type Run, teach } from "../../command.ts";
import { Failure } from "../../errors.ts";
import { knownStatus } from "../../rules/known-status.ts";
import { notSentFor, ruleOf } from "../../rules/told.ts";
import { table } from "../../text/table.ts";

type Options = { shipment: string; status: string; at?: string };

export function tryOut(rules: Command, run: Run): void {
  teach(rules, "try", {
    summary: "whom an event would tell what, and when",
    description:
      "Says whom an event of a shipment would tell what, by which channel and when, by the rules that count now: the very fan-out that an event has. Nothing is recorded.",
    changes: "nothing.",
    examples: [
      "rules try --shipment S-1001 --status customs_hold",
      "rules try --shipment S-1001 --status delivered --at 2026-03-29T09:30:00+02:00",
    ],
  })
    .requiredOption("--shipment <id>", "the shipment", text)
    .requiredOption("--status <status>", "the status that it would come into", text)
    .option("--at <time>", "when it would occur, RFC 3339 with offset (default: now)", instant)
    .action(({ shipment, status, at = new Date().toISOString() }: Options) =>
      run("reads", async ({ ledger }) => {
        await knownStatus(ledger, status);
        const told = await tryRules(ledger, { shipmentId: shipment, status, occurredAt: at });
        if (told === null)
          throw new Failure(
            "not_found",
            `there is no shipment ${shipment}: is its id another? The platform registers it (owed.register_shipment)`,
          );
        return { json: { shipmentId: shipment, status, occurredAt: at, tells: told }, lines: describe(told) };
      }),
    );
}

const describe = (told: readonly WouldTell[]): string[] =>
  told.length === 0
    ? ["Nobody would be told."]
    : table(
        ["recipient", "role", "by", "template", "when", "there", "not after", "but", "rule"],
        told.map((row) => [
          row.recipientId,
          row.role,
          row.channel,
          row.template,
          row.dueAt.toISOString(),
          `${row.dueThere} ${row.timeZone}`,
          row.sendBy?.toISOString() ?? null,
          notSentFor(row),
          ruleOf(row),
        ]),
      );
