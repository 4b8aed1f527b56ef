import type { Told } from "@owed/cli/audit/history";
import { printable } from "@owed/cli/text/printable";
import type { RuleVersion } from "@owed/ledger";
import { html } from "hono/html";
import type { Context } from "../context.ts";
import type { Html } from "../page/page.ts";
import { facts, table, time } from "../page/parts.ts";
import { actions } from "./actions.ts";
import { answerPath } from "./query.ts";
import { rulesTable } from "./rule-view.ts";
import { said } from "./said.ts";

/** A notification's whole history, and what a person may do with it. */
export function historyBody(context: Context, told: Told, rule: RuleVersion | null, full: boolean): Html {
  const { row, moments, standing } = told;
  const question = { shipmentId: row.shipmentId, recipientId: row.recipientId, full };
  return html`
  <p class="lead">Now: ${said(standing)}.</p>
  <p class="noprint"><a href="${answerPath(question)}">Was ${printable(row.recipientId)} notified of shipment ${printable(row.shipmentId)}?</a></p>
  <div class="history">${facts([
    ["State", row.state],
    ["Shipment", printable(row.shipmentId)],
    ["Event", `${printable(row.eventId)} (${printable(row.status)})`],
    ["Recipient", `${printable(row.recipientId)} (${row.role})`],
    ["Channel and template", printable(`${row.channel}, ${row.template}`)],
    ["Sent to", row.sentTo && printable(row.sentTo)],
    ["Provider's message", row.providerMessageId && printable(row.providerMessageId)],
    ["Attempts", row.attempts],
    ["Rescues", row.rescues],
    ["Resends", row.resends],
    ["Generation", row.generation],
    ...(row.replays === null
      ? []
      : [["Sent once more after", html`<a href="/notified/${row.replays}">${row.replays}</a>`] as const]),
  ])}</div>
  <p class="noprint"><a href="/notified/${row.id}${full ? "" : "?full=1"}">${full ? "Mask addresses" : "Show addresses"}</a></p>
  <h2>What happened</h2>
  ${table(
    "Its history, in the order of time",
    [
      { name: "Time", cell: ({ at }) => time(at) },
      { name: "What", cell: ({ what }) => said(what) },
    ],
    moments,
  )}
  <h2>Rule</h2>
  ${rulesTable(rule ? [rule] : [])}
  ${actions(context, row)}`;
}
