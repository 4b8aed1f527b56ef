import { notSentFor, ruleOf } from "@owed/cli/rules/told";
import { listStatuses, tryRules, type WouldTell } from "@owed/ledger";
import { html } from "hono/html";
import { HTTPException } from "hono/http-exception";
import type { Context } from "../context.ts";
import type { Html } from "../page/page.ts";
import { table, time } from "../page/parts.ts";
import { commandLine } from "./command-line.ts";
import { option } from "./list.ts";
import { addressOf, type TryQuery } from "./query.ts";

/**
 * Whom an event would tell what: by the very fan-out that an event has. Nothing is recorded.
 *
 * @throws HTTPException 400 for a status that there is not
 */
export async function tryView(context: Context, query: TryQuery): Promise<Html> {
  const statuses = await listStatuses(context.ledger);
  if (query.status !== "" && !statuses.includes(query.status))
    throw new HTTPException(400, {
      message: `There is no status ${query.status}; there are ${statuses.join(", ")}.`,
    });
  return html`<p><a href="/rules">All rules</a></p>
  <p>Says whom an event of a shipment would tell what, by which channel and when, by the rules that count now. Nothing is recorded, and nothing sent.</p>
  <form method="get" class="ask" action="/rules/try">
    <label>Shipment's id <input name="shipment" required maxlength="200" value="${query.shipment}"></label>
    <label>Status that it would come into <select name="status">${statuses.map((status) => option(status, query.status))}</select></label>
    <label>When it would occur <input name="at" value="${query.at}" placeholder="now, or 2026-03-29T09:30:00+02:00"></label>
    <button>Try</button>
  </form>
  ${query.shipment === "" || query.status === "" ? "" : await answer(context, query)}`;
}

async function answer(context: Context, { shipment, status, at }: TryQuery): Promise<Html> {
  const occurredAt = at || new Date().toISOString();
  const told = await tryRules(context.ledger, { shipmentId: shipment, status, occurredAt });
  if (told === null)
    return html`<p role="status">There is no shipment <bdi>${shipment}</bdi>: is its id another? The platform registers it.</p>`;
  const same = ["rules", "try", "--shipment", shipment, "--status", status, ...(at ? ["--at", at] : [])];
  return html`<div role="status">${told.length === 0 ? html`<p>Nobody would be told.</p>` : tellings(told)}</div>
  <p>The same on the command line:</p>${commandLine(context, same)}`;
}

const tellings = (told: readonly WouldTell[]): Html =>
  table(
    "Would be told",
    [
      { name: "Recipient", cell: ({ recipientId }) => html`<bdi>${recipientId}</bdi>` },
      { name: "Role", cell: ({ role }) => role },
      { name: "By", cell: ({ channel }) => channel },
      {
        name: "What",
        cell: ({ template, channel, role }) =>
          html`<a href="${addressOf("/rules/templates/preview", { template, channel, role })}"><bdi>${template}</bdi></a>`,
      },
      { name: "When", cell: ({ dueAt }) => time(dueAt) },
      {
        name: "On the clock there",
        cell: ({ dueThere, timeZone }) => html`${dueThere} <bdi>${timeZone}</bdi>`,
      },
      { name: "Not after", cell: ({ sendBy }) => (sendBy ? time(sendBy) : null) },
      { name: "But", cell: (row) => notSentFor(row) },
      { name: "Rule", cell: ruleOf },
    ],
    told,
  );
