import type { Stopped } from "@owed/ledger";
import { html } from "hono/html";
import type { Context } from "../context.ts";
import { notificationPath } from "../notified/id.ts";
import type { Html } from "../page/page.ts";
import { type Column, time } from "../page/parts.ts";
import type { Choice, Filter } from "./choice.ts";

/** Rows that a page shows at most. */
export const shown = 100;

export type Subpage = "dead" | "unknown" | "suppressed" | "refused";

const subpages: Record<Subpage, { path: string; name: string }> = {
  dead: { path: "/dead", name: "Dead" },
  unknown: { path: "/dead/unknown", name: "Unknown outcomes" },
  suppressed: { path: "/dead/suppressed", name: "Suppressed addresses" },
  refused: { path: "/dead/refused", name: "Refused events" },
};

/** The way between the pages of this place; why there are no forms, where there are none. */
export const within = (context: Context, current: Subpage | null): Html => html`
  <nav class="within" aria-label="What waits for a person"><ul>${Object.entries(subpages).map(
    ([key, { path, name }]) =>
      html`<li><a href="${path}" ${key === current ? html`aria-current="page"` : ""}>${name}</a></li>`,
  )}</ul></nav>
  ${context.writer ? "" : html`<p class="looking">This console only looks, so nothing can be changed here: start it with --write to have the forms.</p>`}`;

/** A notification's id, with the way to its history. */
export const notification = (id: string): Html => html`<a href="${notificationPath(id)}">${id}</a>`;

export const count = (of: number): string => of.toLocaleString("en");

/** `1 row`, `3,000 rows`. */
export const plural = (of: number, one: string, many = `${one}s`): string =>
  `${count(of)} ${of === 1 ? one : many}`;

/** The end of a list that goes on: `and 23 more`; of how many, where that is known. */
export const more = (rest: number | null, see: Html | string = "narrow it down to see them"): Html =>
  rest === 0 ? html`` : html`<p>… and ${rest === null ? "more" : `${count(rest)} more`}: ${see}.</p>`;

/** Asks for those alone that fit. */
export const narrow = (path: string, { channel, reason, shipment }: Filter): Html => html`
  <form method="get" action="${path}" class="ask" role="search">
    <label>Shipment <input name="shipment" value="${shipment ?? ""}"></label>
    <label>Channel <input name="channel" value="${channel ?? ""}" size="10"></label>
    <label>The reason's beginning <input name="reason" value="${reason ?? ""}"></label>
    <button>Show these</button>
  </form>`;

export const hidden = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}">`;

/** What a form is about, for the next one. */
export const fieldsOf = (choice: Choice): Html =>
  "ids" in choice
    ? html`${choice.ids.map((id) => hidden("id", id))}`
    : html`${hidden("all", "yes")}${Object.entries(choice.filter).map(([name, value]) => hidden(name, value))}`;

/** A box to choose a row of a table by, within its form. */
export const tick = (id: string, label: string): Html =>
  html`<input type="checkbox" name="id" value="${id}" aria-label="${label}">`;

/** What is told of each row that waits for a person, between those that a page has of its own; with a box where it can be chosen. */
export const stoppedColumns = (context: Context, since: string): Column<Stopped>[] => [
  ...(context.writer
    ? [
        {
          name: "Choose",
          cell: ({ id, shipmentId }: Stopped) => tick(id, `Choose ${id} of shipment ${shipmentId}`),
        },
      ]
    : []),
  { name: since, cell: ({ stoppedAt }) => time(stoppedAt) },
  { name: "Notification", cell: ({ id }) => notification(id) },
  { name: "Shipment", cell: ({ shipmentId }) => shipmentId },
  { name: "Status", cell: ({ status }) => status },
  { name: "Recipient", cell: ({ recipientId }) => recipientId },
  { name: "Channel", cell: ({ channel }) => channel },
  { name: "Tries", cell: ({ attempts }) => attempts, number: true },
];

/** A form around a table of rows to choose from; without one where nothing can be changed. */
export const choosing = (context: Context, path: string, rows: Html, fields: Html): Html =>
  context.writer
    ? html`<form method="post" action="${path}">
    ${hidden("token", context.token)}
    ${rows}
    <div class="decide">${fields}</div>
  </form>`
    : rows;

/** From when to when, in as few words as it takes. */
export const since = (oldest: Date, newest: Date): Html =>
  oldest.getTime() === newest.getTime() ? time(oldest) : html`${time(oldest)} to ${time(newest)}`;
