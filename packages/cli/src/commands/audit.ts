import type { Ledger, Notification, Notified } from "@owed/ledger";
import type { Command } from "commander";
import { text } from "../arguments.ts";
import { type By, find, isQuestion, nobodyFound } from "../audit/find.ts";
import { answerText, auditJson, type Question, readAudit, untoldLines } from "../audit/read.ts";
import { type Run, teach } from "../command.ts";
import { Failure } from "../errors.ts";
import type { Result } from "../output.ts";
import { table } from "../text/table.ts";
import { time } from "../text/time.ts";

type Options = { shipment?: string; recipient?: string; address?: string; message?: string; full?: boolean };

export function audit(program: Command, run: Run): void {
  teach(program, "audit", {
    summary: "was this customer notified, when, and on what evidence",
    description:
      "Answers for each event and recipient of a shipment, in a sentence: was this customer notified, when, and on what evidence. Then which roles were told nothing by a channel, and why, and the ledger's rows behind the answers. Works months later, without a log. Of a recipient, an address or a provider's message without a shipment it answers where they mean one shipment, and lists the shipments where they mean several.",
    changes: "nothing.",
    examples: [
      "audit --shipment S-1001",
      "audit --shipment S-1001 --recipient buyer-1 --full",
      "audit --address ann@example.com",
      "audit --message 0100019d-6f0a",
    ],
  })
    .option("--shipment <id>", "the shipment", text)
    .option("--recipient <id>", "one recipient of it; or of whichever shipment", text)
    .option("--address <address>", "an email address, a telephone number or a webhook's URL", text)
    .option("--message <id>", "a message, by its provider's id", text)
    .option("--full", "addresses in full; they are masked otherwise")
    .action((options: Options) => {
      const sought = soughtIn(options);
      const full = options.full ?? false;
      return run("reads", ({ ledger }) =>
        isQuestion(sought) ? answer(ledger, sought, full) : search(ledger, sought, full),
      );
    });
}

type Sought = { by: Exclude<By, "shipment">; value: string };

/** A shipment, with or without a recipient; else one of the others. */
function soughtIn({ shipment, recipient, address, message }: Options): Question | Sought {
  if (shipment !== undefined && address === undefined && message === undefined)
    return { shipmentId: shipment, recipientId: recipient };
  const others = Object.entries({ recipient, address, message }).flatMap(([by, value]) =>
    value === undefined ? [] : [{ by: by as Sought["by"], value }],
  );
  const [only, ...more] = others;
  if (shipment !== undefined || !only || more.length > 0)
    throw new Failure(
      "usage",
      "say of whom: --shipment, with --recipient for one of its recipients; or one of --recipient, --address and --message alone",
    );
  return only;
}

async function answer(ledger: Ledger, question: Question, full: boolean): Promise<Result> {
  const found = await readAudit(ledger, question);
  const json = auditJson(found, full);
  const evidence = json.notifications.length === 0 ? [] : ["", ...list(json.notifications)];
  return { json, lines: [...answerText(found), ...untoldLines(found), ...evidence] };
}

async function search(ledger: Ledger, { by, value }: Sought, full: boolean): Promise<Result> {
  const found = await find(ledger, by, value);
  if (isQuestion(found)) return answer(ledger, found, full);
  if (found.matches.length === 0) throw nobodyFound(by, value);
  return {
    json: found,
    lines: [
      "Several shipments fit; ask of one of them with --shipment, and --recipient:",
      ...choices(found.matches),
      ...(found.more ? ["There are more: the latest are listed."] : []),
    ],
  };
}

const choices = (matches: readonly Notified[]): string[] =>
  table(
    ["shipment", "merchant", "recipient", "role", "channels", "notifications", "last due", "notification"],
    matches.map((match) => [
      match.shipmentId,
      match.merchantName,
      match.recipientId,
      match.role,
      match.channels.join(", "),
      match.notifications,
      time(match.lastDueAt),
      match.notificationId,
    ]),
  );

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
