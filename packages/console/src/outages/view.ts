import type { Proven } from "@owed/cli/report/find";
import { html } from "hono/html";
import { notificationPath } from "../notified/id.ts";
import type { Html } from "../page/page.ts";
import { partsOf } from "./outage.ts";
import { readAt } from "./parts.ts";
import { inWords } from "./plot.ts";
import { addressOf } from "./query.ts";
import { isUnsettled, restOf } from "./read.ts";

/** One outage's page: while there will be something new to see, it reads itself again. */
export function outageView(outage: Proven, svg: string, merchant: string | null, took: number): Html {
  const seconds = restOf(took, 5);
  const { proof, summary, fates, left, series } = partsOf(outage, {
    notification: (id) => html`<a href="${notificationPath(id)}">${id}</a>`,
    dead: html`<a href="/dead">What to do about dead letters</a>`,
  });
  const unsettled = isUnsettled(outage);
  const file = (format: "html" | "json" | "svg", name: string) =>
    html`<li><a href="${addressOf(outage.from, merchant, format)}" download>${name}</a></li>`;
  return html`<p class="noprint"><a href="/outages${merchant === null ? "" : `?merchant=${encodeURIComponent(merchant)}`}">All outages</a></p>
  ${merchant === null ? "" : html`<p>Only the notifications of the merchant <bdi>${merchant}</bdi> are counted.</p>`}
  <div ${unsettled ? html`data-every="${seconds}"` : ""}>
    <div id="proof" data-fresh aria-live="polite">${proof}</div>
    <div id="summary" data-fresh>${summary}</div>
    <h2>How it went</h2>
    <figure class="drawn" id="plot" data-fresh><img src="${asSource(svg)}" alt="${inWords(outage)}"></figure>
    <details><summary>The same in numbers</summary><div id="series" data-fresh>${series}</div></details>
    <h2>What became of it</h2>
    <div id="fates" data-fresh>${fates}</div>
    <div id="left" data-fresh>${left}</div>
    <div id="read" data-fresh>${unsettled ? readAt(seconds) : ""}</div>
  </div>
  <h2 class="noprint">Keep it</h2>
  <ul class="noprint">${file("html", "As one page to send or print (HTML)")}${file("json", "For a program (JSON)")}${file("svg", "The plot alone (SVG)")}</ul>`;
}

/** In the page itself, so that the plot is of the same moment as the numbers. */
const asSource = (svg: string): string => `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`;
