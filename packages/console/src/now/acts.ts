import type { DoneAct } from "@owed/ledger";
import { html } from "hono/html";
import type { Html } from "../page/page.ts";
import { table, time } from "../page/parts.ts";

const did: Record<DoneAct["did"], string> = {
  paused: "paused",
  resumed: "let run again",
  closed: "closed",
  opened: "opened",
  redrove: "redrove",
  gave_back: "gave back",
};

/** Who stopped and started what, and why: the last ones. */
export const doneActs = (acts: readonly DoneAct[]): Html => html`<section aria-labelledby="acts-title">
    <h2 id="acts-title">Who did what</h2>
    <div id="acts" data-live>${
      acts.length === 0
        ? html`<p>Nobody has stopped or started anything yet. What was done to a notification stands in its history.</p>`
        : table(
            "What people did to the sweeps, the channels and the queues, the newest first",
            [
              { name: "When", cell: ({ at }) => time(at) },
              { name: "Who", cell: ({ actor }) => actor },
              { name: "Did what", cell: (act) => `${did[act.did]}: ${act.subject}` },
              { name: "Why", cell: ({ why }) => why },
            ],
            acts,
          )
    }</div>
  </section>`;
