import { printable } from "@owed/cli/text/printable";
import { duration } from "@owed/cli/text/time";
import { html } from "hono/html";
import type { Html } from "../page/page.ts";
import { time } from "../page/parts.ts";
import { type Now, shown } from "./read.ts";
import { sinceSweep, sweepMissing } from "./situation.ts";

/** The heartbeat of the schedule: in a sentence, and as a strip of the last beats. */
export const heartbeat = (now: Now): Html => html`<section aria-labelledby="heartbeat">
  <h2 id="heartbeat">The heartbeat</h2>
  <p id="beat" data-live>${sentence(now)}</p>
  <div id="beats" data-live>${strip(now)}</div>
</section>`;

function sentence(now: Now): Html {
  const { pulse, beats, every } = now;
  const { paused } = pulse;
  if (paused)
    return html`<strong class="warn">The sweeps are paused</strong> by ${printable(paused.by)} since
      ${time(paused.at)}${paused.why ? html` (${printable(paused.why)})` : ""}: what falls due waits in the ledger.`;
  const since = sinceSweep(now);
  if (sweepMissing(now))
    return html`<strong class="bad">${
      since === null ? "No sweep has come to its end yet" : `No sweep for ${duration(since)}`
    }</strong>: what falls due waits in the ledger.`;
  const last = beats.find(({ finishedAt }) => finishedAt);
  const next = last && new Date(last.startedAt.getTime() + every * 1000);
  return html`The last sweep ended at ${time(pulse.lastSweepAt)}${last ? html` and published ${last.published}` : ""}; the next is
    expected at ${time(next ?? null)}${next && next < now.at ? html` <span class="warn">and has not ended yet</span>` : ""}.`;
}

const marks = {
  ended: { sign: "●", name: "a sweep that came to its end" },
  failed: { sign: "×", name: "a sweep that did not come to its end" },
  none: { sign: "–", name: "no sweep" },
} as const;
type Mark = keyof typeof marks;

/** What became of each of the last beats, the oldest first. */
export function lastBeats({ at, beats, every }: Pick<Now, "at" | "beats" | "every">): Mark[] {
  const cells: Mark[] = Array.from({ length: shown }, () => "none");
  for (const { startedAt, finishedAt } of beats) {
    const back = Math.floor((at.getTime() - startedAt.getTime()) / 1000 / every);
    const cell = shown - 1 - Math.max(0, back);
    if (cell < 0 || cells[cell] === "ended") continue;
    cells[cell] = finishedAt ? "ended" : "failed";
  }
  return cells;
}

function strip(now: Now): Html {
  const cells = lastBeats(now);
  const counted = (Object.keys(marks) as Mark[])
    .map((mark) => ({ mark, count: cells.filter((cell) => cell === mark).length }))
    .filter(({ count }) => count > 0)
    .map(({ mark, count }) => `${count} with ${marks[mark].name}`);
  const label = `The last ${shown} beats, ${duration(now.every)} each: ${counted.join(", ")}.`;
  return html`<div class="beats" role="img" aria-label="${label}">${cells.map(
    (cell) => html`<span class="beat ${cell}">${marks[cell].sign}</span>`,
  )}</div>
  <p><small>${label}</small></p>`;
}
