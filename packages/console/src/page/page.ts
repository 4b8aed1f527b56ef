import { printable } from "@owed/cli/text/printable";
import type { Context as Call } from "hono";
import { html } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";
import type { Context } from "../context.ts";
import { noticeOf } from "../guard/notice.ts";

export type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

/** The pages, in the order of the navigation. */
export const places = {
  now: { path: "/", name: "Now" },
  notified: { path: "/notified", name: "Was this customer notified?" },
  dead: { path: "/dead", name: "Dead letters" },
  outages: { path: "/outages", name: "Outages" },
  rules: { path: "/rules", name: "Rules and templates" },
} as const;
export type Place = keyof typeof places;

export type Page = {
  place: Place;
  title: string;
  body: Html;
  /** Client scripts, by name: see /assets. */
  scripts?: readonly string[];
};

/** Answers with a whole page. Whatever the ledger holds is escaped by `html`, wherever it stands. */
export function show(call: Call, context: Context, { place, title, body, scripts = [] }: Page) {
  const said = noticeOf(call.req.query("said"), call.req.query("seal"), context.token);
  return call.html(html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title} · Owed, ${context.stage}</title>
    <link rel="icon" href="/assets/icon.svg">
    <link rel="stylesheet" href="/assets/uplot.css">
    <link rel="stylesheet" href="/assets/style.css">
    ${scripts.map((name) => html`<script type="module" src="/assets/${name}.js"></script>`)}
  </head>
  <body>
    <a class="skip" href="#main">To the page's content</a>
    <header class="top">
      <p class="brand"><a href="/">Owed</a> <span class="stage">${context.stage}</span></p>
      <nav aria-label="Pages">
        <ul>
          ${Object.entries(places).map(
            ([key, { path, name }]) =>
              html`<li><a href="${path}" ${key === place ? html`aria-current="page"` : ""}>${name}</a></li>`,
          )}
          ${context.sandbox ? html`<li><a href="${context.sandbox.mailboxUrl}">Mailbox</a></li>` : ""}
        </ul>
      </nav>
      <p class="who">${context.actor}${context.writer ? "" : html` <span class="tag">read-only</span>`}</p>
    </header>
    <main id="main" tabindex="-1">
      <h1>${title}</h1>
      ${said ? html`<p class="notice" role="status">${printable(said)}</p>` : ""}
      ${body}
    </main>
  </body>
</html>`);
}
