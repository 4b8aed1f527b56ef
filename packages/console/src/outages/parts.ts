import { resumed } from "@owed/cli/report/sentences";
import { duration } from "@owed/cli/text/time";
import { plural } from "@owed/cli/text/words";
import type { Gap, Outage } from "@owed/ledger";
import { html } from "hono/html";
import type { Html } from "../page/page.ts";
import { time } from "../page/parts.ts";

/** How long it was, and whether it still is. */
export function titleOf({ to, seconds, pauses }: Gap): string {
  if (to) return `Outage of ${duration(seconds)}`;
  if (resumed(pauses)) return `Outage for ${duration(seconds)}: resumed, and no sweep has worked since`;
  return `Outage for ${duration(seconds)}, and it goes on`;
}

/** Who stopped the schedule, and why, and what failed. What people wrote is kept apart from the sentence around it. */
export function causesOf({ pauses, failed }: Gap): Html {
  const known = pauses.map(
    ({ at, by, why, resumedAt }) =>
      html`Paused by <bdi>${by}</bdi> at ${time(at)}, ${resumedAt ? html`resumed at ${time(resumedAt)}` : "and not resumed"}${why ? html`: <bdi>${why}</bdi>` : ""}.`,
  );
  if (failed > 0) known.push(html`${plural(failed, "sweep")} began in it and did not come to the end.`);
  return known.length === 0
    ? html`<p>Nobody paused, and no sweep failed: none was started, or the database was away.</p>`
    : html`<ul class="causes">${known.map((one) => html`<li>${one}</li>`)}</ul>`;
}

/** Whether something of it waits, in a word; never by its colour alone. */
export function stateOf({ to, addsUp, all }: Outage): Html {
  if (!addsUp) return html`<span class="bad">does not add up</span>`;
  if (to === null) return html`<span class="bad">goes on, ${all.stillOwed} owed</span>`;
  if (all.stillOwed > 0) return html`<span class="warn">${all.stillOwed} still owed</span>`;
  return html`<span class="good">nothing owed</span>`;
}

/** When the page was read, and how it is read again: by its script, each so many seconds. */
export const readAt = (seconds: number): Html =>
  html`<p class="noprint"><small>Read at ${time(new Date())}, and again every ${seconds} s <span id="trouble"></span></small></p>`;
