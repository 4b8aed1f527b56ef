import { html } from "hono/html";
import type { Context } from "../context.ts";
import { latestOutage } from "../outages/latest.ts";
import type { Html } from "../page/page.ts";
import { trySection } from "../sandbox/section.ts";
import { doneActs } from "./acts.ts";
import { channelTable } from "./channels.ts";
import { controls } from "./controls.ts";
import { courseSection } from "./course.ts";
import { figures } from "./figures.ts";
import { heartbeat } from "./heartbeat.ts";
import type { Now } from "./read.ts";
import { situation } from "./situation.ts";
import type { Span } from "./spans.ts";
import { type Courses, sentLastMinute } from "./watch.ts";

/** The page: how it stands, how it went, and what can be done about it. */
export const nowPage = (context: Context, now: Now, courses: Courses, span: Span): Html => html`
  <div class="live">${situationLine(now)}<p id="connection" class="bad" role="status"></p></div>
  ${figures(now, sentLastMinute(courses))}
  ${trySection(context)}
  ${heartbeat(now)}
  ${courseSection(courses[span] ?? null, span)}
  ${channelTable(now.channels)}
  ${latest(context)}
  ${controls(context, now)}
  ${doneActs(now.acts)}`;

/** What changes by itself: each part takes the place of the page's own with its id. */
export const nowParts = (context: Context, now: Now, courses: Courses, provider: Html): Html => html`
  ${situationLine(now)} ${figures(now, sentLastMinute(courses))} ${heartbeat(now)} ${channelTable(now.channels)}
  ${latest(context)} ${doneActs(now.acts)}
  <p id="provider" data-live>${provider}</p>`;

/** The newest outage, and what has become of all that was owed in it. */
const latest = (context: Context): Html => html`<section aria-labelledby="latest-title">
    <h2 id="latest-title">The latest outage</h2>
    <div id="latest" data-live>${latestOutage(context)}</div>
  </section>`;

/** Read out when it changes: so no number stands in it. */
function situationLine(now: Now): Html {
  const { tone, text } = situation(now);
  return html`<p class="lead" id="situation" role="status" data-live><span class="${tone}">${text}</span></p>`;
}

/** The page while the ledger does not answer: it tries on, and is loaded anew when there is an answer. */
export const silentPage = (why: string): Html => html`
  <div class="live">${silence(why)}<p id="connection" class="bad" role="status"></p></div>`;

export const silence = (why: string): Html =>
  html`<p class="lead" id="situation" role="status" data-live><span class="bad">The ledger does not answer</span>, and this page
    goes on trying. ${why}</p>`;
