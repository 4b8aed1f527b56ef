import { drainText } from "@owed/cli/text/drain";
import { duration } from "@owed/cli/text/time";
import { html } from "hono/html";
import type { Html } from "../page/page.ts";
import { facts } from "../page/parts.ts";
import type { Now } from "./read.ts";

/** What is owed, and how fast it goes out. */
export const figures = (
  { pulse, channels }: Now,
  sent: number | null,
): Html => html`<section aria-labelledby="owed">
  <h2 id="owed">What is owed</h2>
  <div id="figures" data-live>${facts([
    ["Owed now", pulse.owed],
    ["The oldest of it", pulse.owed === 0 ? "–" : `${duration(pulse.oldestOwedAge)} old`],
    ["Sent in the last minute", sent],
    ["Time to drain", drainText(pulse, channels)],
    ["In the queue", pulse.states.queued],
    ["With a worker", pulse.states.sending],
    ["Outcome unknown", pulse.states.unknown],
    ["Wait for a person", pulse.stopped],
  ])}</div>
  <p><a href="/dead">What waits for a person</a>: dead letters, and outcomes that only a person can settle.</p>
</section>`;
