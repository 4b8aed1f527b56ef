import {
  type Attempt,
  audit as auditRows,
  type Circumstances,
  explainMoot,
  type Ledger,
  listUntold,
  type Notification,
  readCircumstances,
  show,
} from "@owed/ledger";
import type { Command } from "commander";
import { answers, type Grounds } from "../answer.ts";
import { mootOf, suppressionsOf, waits } from "../answer-cause.ts";
import { untoldText } from "../answer-untold.ts";
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
      "Answers for each event and recipient of a shipment, in a sentence: was this customer notified, when, and on what evidence. Then which roles were told nothing by a channel, and why, and the ledger's rows behind the answers. Works months later, without a log.",
    changes: "nothing.",
    examples: ["audit --shipment S-1001", "audit --shipment S-1001 --recipient buyer-1 --full"],
  })
    .requiredOption("--shipment <id>", "the shipment", text)
    .option("--recipient <id>", "one recipient of it", text)
    .option("--full", "addresses in full; they are masked otherwise")
    .action(({ shipment, recipient, full = false }: Options) =>
      run("reads", async ({ ledger }) => {
        const rows = await auditRows(ledger, { shipmentId: shipment, recipientId: recipient });
        const grounds = await groundsOf(ledger, shipment, rows);
        const { circumstances } = grounds;
        const known = circumstances?.subscribers.some(({ recipientId }) => recipientId === recipient);
        if (!circumstances || (recipient !== undefined && rows.length === 0 && !known))
          throw nothing(shipment, recipient, circumstances);
        const untold = await listUntold(ledger, { shipmentId: shipment, recipientId: recipient });
        const found = answers(rows, grounds);
        const notifications = rows.map((row) => masked(row, full));
        const nobody =
          circumstances.events.length === 0
            ? `The ledger has no event of shipment ${shipment}: nobody was to be told anything yet.`
            : `The ledger has no notification for ${recipient ?? "anybody"} of shipment ${shipment}.`;
        return {
          json: { shipmentId: shipment, answers: found, untold, notifications },
          lines: [
            ...(rows.length === 0 ? [nobody] : found.map(({ sentence }) => sentence)),
            ...untoldText(untold, recipient),
            ...(rows.length === 0 ? [] : ["", ...list(notifications)]),
          ],
        };
      }),
    );
}

async function groundsOf(
  ledger: Ledger,
  shipmentId: string,
  rows: readonly Notification[],
): Promise<Grounds> {
  const waiting = rows.filter((row) => waits(row) && row.mode === null);
  const moot = await explainMoot(
    ledger,
    waiting.map(({ id }) => id),
  );
  const suppressions = suppressionsOf(rows.map((row) => mootOf(row, moot)));
  return {
    tries: await triesOf(ledger, rows),
    closed: await closedChannels(ledger, rows),
    moot,
    circumstances: await readCircumstances(ledger, shipmentId, suppressions),
  };
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
function nothing(
  shipment: string,
  recipient: string | undefined,
  circumstances: Circumstances | null,
): Failure {
  if (!circumstances)
    return new Failure(
      "not_found",
      `the ledger knows no shipment ${shipment}: its id is another, or it was not registered`,
    );
  const known = [...new Set(circumstances.subscribers.map(({ recipientId }) => recipientId))].slice(0, 10);
  return new Failure(
    "not_found",
    `the ledger has nothing for recipient ${recipient} of shipment ${shipment}; ${known.length > 0 ? `it has for ${known.join(", ")}` : "nobody is subscribed to it"}`,
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
