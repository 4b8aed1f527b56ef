import { printable } from "@owed/cli/text/printable";
import { html } from "hono/html";
import type { Context } from "../context.ts";
import type { Html } from "./page.ts";

/** A time as people read it, with the exact one for machines: UTC, RFC 3339. */
export const time = (at: Date | null): Html =>
  at === null
    ? html`<span class="none">never</span>`
    : html`<time datetime="${at.toISOString()}">${at
        .toISOString()
        .replace("T", " ")
        .replace(/\.\d+Z$/, " UTC")}</time>`;

/** Text in which nothing turns the rest of the line round, or hides: `html` made the others. */
const plain = (value: Html | string | number | null): Html | string | number =>
  typeof value === "string" ? printable(value) : (value ?? "–");

export type Column<Row> = { name: string; cell: (row: Row) => Html | string | number | null; number?: true };

/** A table that a phone can scroll sideways, with its caption for whoever can't see it. `live`: the id of rows that change by themselves. */
export const table = <Row>(
  caption: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  live?: string,
): Html =>
  html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table>
    <caption>${caption}</caption>
    <thead><tr>${columns.map(({ name, number }) => html`<th scope="col" class="${number ? "number" : ""}">${name}</th>`)}</tr></thead>
    <tbody${live === undefined ? "" : html` id="${live}" data-live`}>${rows.map(
      (row) =>
        html`<tr>${columns.map(({ cell, number }) => html`<td class="${number ? "number" : ""}">${plain(cell(row))}</td>`)}</tr>`,
    )}</tbody>
  </table></div>`;

/** Facts about one thing, each with its name. */
export const facts = (of: readonly (readonly [string, Html | string | number | null])[]): Html =>
  html`<dl class="facts">${of.map(([name, value]) => html`<div><dt>${name}</dt><dd>${plain(value)}</dd></div>`)}</dl>`;

/** The reason that the ledger keeps, with an example. */
export const reasonField = (example: string): Html =>
  html`<label>Why <input name="why" required maxlength="500" placeholder="${example}"></label>`;

/** A form that changes something: with the page's token; with a reason where the ledger keeps one. */
export const form = (
  context: Context,
  path: string,
  {
    button,
    fields = "",
    why,
    danger = false,
  }: { button: string; fields?: Html | string; why?: string; danger?: boolean },
): Html => html`<form method="post" action="${path}" class="act">
    <input type="hidden" name="token" value="${context.token}">
    ${fields}
    ${why === undefined ? "" : reasonField(why)}
    <button class="${danger ? "danger" : ""}">${button}</button>
  </form>`;
