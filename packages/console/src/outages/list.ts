import type { Proven } from "@owed/cli/report/find";
import { duration } from "@owed/cli/text/time";
import { plural } from "@owed/cli/text/words";
import { html } from "hono/html";
import type { Html } from "../page/page.ts";
import { table, time } from "../page/parts.ts";
import { causesOf, readAt, stateOf } from "./parts.ts";
import { addressOf, type Query } from "./query.ts";
import { isUnsettled, type Read, restOf } from "./read.ts";

/** All outages of a window, newest first. */
export function listView(read: Read, { since, until, merchant }: Query): Html {
  const seconds = restOf(read.took, read.outages.some(isUnsettled) ? 5 : 30);
  const span = since === null ? "in the last 7 days" : `since ${since}`;
  return html`<p>An outage is a time in which no sweep came to its end for more than ${duration(read.gap)}. Nothing is lost in one: the sweeps after it send what is owed.</p>
  <form method="get" class="ask" action="/outages">
    <label>Since (UTC) <input type="datetime-local" name="since" step="1" value="${field(since)}"></label>
    <label>Until (UTC) <input type="datetime-local" name="until" step="1" value="${field(until)}"></label>
    <label>Merchant's id <input name="merchant" maxlength="200" value="${merchant ?? ""}"></label>
    <button>Show</button>
  </form>
  ${merchant === null ? "" : html`<p>Only the notifications of the merchant <bdi>${merchant}</bdi> are counted.</p>`}
  <div data-every="${seconds}">
    <p class="lead" id="found" data-fresh aria-live="polite">${plural(read.outages.length, "outage")} ${span}${until === null ? "" : ` until ${until}`}.</p>
    <div id="outages" data-fresh>${read.outages.length === 0 ? "" : outages(read.outages, merchant)}
    ${read.more ? html`<p>There are older ones: say until when.</p>` : ""}</div>
    <div id="read" data-fresh>${readAt(seconds)}</div>
  </div>`;
}

const field = (at: string | null): string => at?.slice(0, 19) ?? "";

const outages = (of: readonly Proven[], merchant: string | null): Html =>
  table(
    "Outages, newest first",
    [
      { name: "Began", cell: ({ from }) => html`<a href="${addressOf(from, merchant)}">${time(from)}</a>` },
      { name: "Ended", cell: ({ to }) => (to ? time(to) : html`<span class="bad">goes on</span>`) },
      { name: "Lasted", cell: ({ seconds }) => duration(seconds), number: true },
      { name: "Why", cell: causesOf },
      { name: "Fell due", cell: ({ all }) => all.due, number: true },
      { name: "Sent", cell: ({ all }) => all.sent, number: true },
      { name: "Over 1 min late", cell: ({ all }) => all.lateByMinutes, number: true },
      { name: "Now", cell: stateOf },
    ],
    of,
  );
