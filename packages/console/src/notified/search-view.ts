import type { Found } from "@owed/cli/audit/find";
import { printable } from "@owed/cli/text/printable";
import { html } from "hono/html";
import type { Html } from "../page/page.ts";
import { table, time } from "../page/parts.ts";
import { answerPath, type Way, ways } from "./query.ts";

/** The search, with what was looked for last. */
export const searchForm = (by: string = "any", value: string = ""): Html =>
  html`<form method="get" action="/notified" class="ask" role="search">
    <label>Look for <select name="by">${Object.entries(ways).map(
      ([way, name]) =>
        html`<option value="${way}" ${way === (by as Way) ? html`selected` : ""}>${name}</option>`,
    )}</select></label>
    <label>Its id or address <input name="value" value="${value}" required maxlength="1000" autocomplete="off" spellcheck="false"></label>
    <button>Search</button>
  </form>`;

/** The page before anything was asked. */
export const searchBody = (sorry: string | null, by?: string, value?: string): Html => html`
  ${searchForm(by, value)}
  ${sorry === null ? "" : html`<p role="alert">${printable(sorry)}</p>`}
  <p>Search by a shipment's id, a recipient's id, an address, or the id that the email or text provider gave a message.
  The answer comes from the ledger alone: it holds months later, without a log.</p>`;

/** Those whom a search may mean. */
export const choiceBody = ({ matches, more }: Found, by: string, value: string): Html => html`
  ${searchForm(by, value)}
  <p>This fits several shipments. Choose one:</p>
  ${table(
    "Shipments that fit, the latest first",
    [
      {
        name: "Shipment",
        cell: (match) => html`<a href="${answerPath(match)}">${printable(match.shipmentId)}</a>`,
      },
      { name: "Merchant", cell: ({ merchantName }) => printable(merchantName) },
      { name: "Recipient", cell: ({ recipientId, role }) => `${printable(recipientId)} (${role})` },
      { name: "Channels", cell: ({ channels }) => printable(channels.join(", ")) },
      { name: "Notifications", cell: ({ notifications }) => notifications, number: true },
      { name: "Last due", cell: ({ lastDueAt }) => time(lastDueAt) },
      {
        name: "Notification",
        cell: ({ notificationId: id }) => (id === null ? null : html`<a href="/notified/${id}">${id}</a>`),
      },
    ],
    matches,
  )}
  ${more ? html`<p>There are more: the latest ${matches.length} are listed. Search for something that fits fewer.</p>` : ""}`;
