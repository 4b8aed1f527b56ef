import { type Attempt, audit as auditRows, type Ledger, type Notification, show } from "@owed/ledger";
import type { Command } from "commander";
import { answers } from "../answer.ts";
import { text } from "../arguments.ts";
import { closedChannels } from "../closed.ts";
import { type Run, teach } from "../command.ts";
import { Failure } from "../errors.ts";
import { masked } from "../text/mask.ts";
import { table } from "../text/table.ts";
import { time } from "../text/time.ts";

type Options = { shipment: string; recipient?: string; full?: boolean };

export function audit(program: Command, run: Run): void {
  teach(program, "audit", {
    summary: "was this customer notified, when, and on what evidence",
    description:
      "Answers for each event and recipient of a shipment, in a sentence: was this customer notified, when, and on what evidence. Then the ledger's rows behind the answers. Works months later, without a log.",
    changes: "nothing.",
    examples: ["audit --shipment S-1001", "audit --shipment S-1001 --recipient buyer-1 --full"],
  })
    .requiredOption("--shipment <id>", "the shipment", text)
    .option("--recipient <id>", "one recipient of it", text)
    .option("--full", "addresses in full; they are masked otherwise")
    .action(({ shipment, recipient, full = false }: Options) =>
      run("reads", async ({ ledger }) => {
        const rows = await auditRows(ledger, { shipmentId: shipment, recipientId: recipient });
        if (rows.length === 0) throw await nothing(ledger, shipment, recipient);
        const tries = await triesOf(ledger, rows);
        const found = answers(rows, { tries, closed: await closedChannels(ledger, rows) });
        const notifications = rows.map((row) => masked(row, full));
        return {
          json: { shipmentId: shipment, answers: found, notifications },
          lines: [...found.map(({ sentence }) => sentence), "", ...list(notifications)],
        };
      }),
    );
}

/** The tries of those rows whose answer may rest on them: few have any. */
async function triesOf(ledger: Ledger, rows: readonly Notification[]): Promise<Map<string, Attempt[]>> {
  const open = ({ state, attempts }: Notification) => state !== "delivered" && attempts > 0;
  const asked = rows.filter((row) => row.evidence === "operator" || open(row));
  const tries = new Map<string, Attempt[]>();
  for (const { id } of asked) tries.set(id, (await show(ledger, id)).tries);
  return tries;
}

/** A name that is misspelt must not read as "No, not notified". */
async function nothing(ledger: Ledger, shipment: string, recipient: string | undefined): Promise<Failure> {
  const all = recipient === undefined ? [] : await auditRows(ledger, { shipmentId: shipment });
  const known = [...new Set(all.map(({ recipientId }) => recipientId))];
  if (known.length > 0)
    return new Failure(
      "not_found",
      `the ledger has nothing for recipient ${recipient} of shipment ${shipment}; it has for ${known.slice(0, 10).join(", ")}`,
    );
  return new Failure(
    "not_found",
    `the ledger has no notification for shipment ${shipment}: no event of it owed one, or its id is another`,
  );
}

const list = (rows: readonly Notification[]): string[] =>
  table(
    [
      "occurred",
      "status",
      "recipient",
      "channel",
      "template",
      "state",
      "delivered",
      "evidence",
      "sent to",
      "notification",
    ],
    rows.map((row) => [
      time(row.occurredAt),
      row.status,
      row.recipientId,
      row.channel,
      row.template,
      row.state,
      time(row.deliveredAt),
      row.evidence && `${row.evidence}, ${row.outcome}${row.reason ? ` (${row.reason})` : ""}`,
      row.sentTo,
      row.id,
    ]),
  );
