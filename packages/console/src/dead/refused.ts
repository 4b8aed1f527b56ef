import { type Chosen, giveBack } from "@owed/cli/refused/give-back";
import { printable } from "@owed/cli/text/printable";
import { listRefusedEvents, type RefusedEvent } from "@owed/ledger";
import type { Hono } from "hono";
import { html } from "hono/html";
import { HTTPException } from "hono/http-exception";
import * as v from "valibot";
import type { Context } from "../context.ts";
import { action, all, type Form, one } from "../guard/act.ts";
import { type Html, show } from "../page/page.ts";
import { form, reasonField, table, time } from "../page/parts.ts";
import { parse } from "./choice.ts";
import { choosing, count, hidden, more, plural, shown, tick, within } from "./parts.ts";
import type { Runs } from "./runs.ts";

/** Characters of a body that are shown. */
const much = 2000;

/** Events that the list shows, or that are chosen from it, at most. */
const most = 1000;

const refusedIds = v.pipe(
  v.array(v.pipe(v.string(), v.regex(/^[1-9]\d{0,17}$/, "A refused event's id is a whole number."))),
  v.maxLength(most, `Choose ${most} at most, or a whole queue.`),
);
const listed = v.optional(
  v.pipe(
    v.string(),
    v.regex(/^\d{1,4}$/, "The limit is a whole number."),
    v.transform(Number),
    v.minValue(1, "The limit is 1 at least."),
    v.maxValue(most, `The limit is ${most} at most.`),
  ),
  String(shown),
);
const queue = v.picklist(
  ["event", "feedback"],
  "The queues that refused events came by are event and feedback.",
);

/** Events that could not be recorded, and how they are given back to their queue. */
export function refusedPages(app: Hono, context: Context, runs: Runs): void {
  app.get("/dead/refused", async (call) => {
    const limit = parse(listed, call.req.query("limit"));
    const found = await listRefusedEvents(context.ledger, limit + 1);
    const rows = found.slice(0, limit);
    return show(call, context, {
      place: "dead",
      title: "Refused events",
      body: html`${within(context, "refused")}
        <p class="lead">${
          rows.length === 0
            ? "No event was refused."
            : `${found.length > limit ? `More than ${plural(limit, "event was", "events were")}` : plural(rows.length, "event was", "events were")} refused, and kept.`
        }</p>
        <p>Mend first what refused them: register the shipment, or correct what reads them. What is still wrong is refused anew. A wrong event the platform corrects, and sends again.</p>
        ${rows.length === 0 ? "" : choosing(context, "/dead/refused", list(context, rows), chosenFields)}
        ${more(found.length > limit ? null : 0, html`<a href="/dead/refused?limit=${most}">show ${count(most)}</a>`)}
        ${context.writer && rows.length > 0 ? whole(context) : ""}`,
    });
  });
  action(app, context, "/dead/refused", async ({ act, form: fields, writer }) => {
    const chosen = chosenBy(fields);
    const which =
      "ids" in chosen
        ? plural(chosen.ids.length, "refused event")
        : `the refused events of the ${chosen.queue} queue`;
    const title = `Giving back ${which}`;
    const about = { title, by: act, from: "/dead/refused" };
    const run = runs.begin(about, async (report) => {
      const progress = (doing: string) => report({ doing, done: 0, total: null });
      const { lines, exitCode } = await giveBack(
        { ...context.services, ledger: writer, progress },
        chosen,
        act,
      );
      const rest = lines.length - shown;
      const sentences = rest > 0 ? [...lines.slice(0, shown), `… and ${count(rest)} lines more`] : lines;
      return { sentences, left: [], failed: exitCode === 1 };
    });
    return { to: `/dead/runs/${run.id}`, said: `${title} has begun.` };
  });
}

function chosenBy(fields: Form): Chosen {
  const again = one(fields, "again") === "on";
  const ids = parse(refusedIds, all(fields, "id"));
  if (ids.length > 0) return { ids: [...new Set(ids)], again };
  if (one(fields, "queue") !== "") return { queue: parse(queue, one(fields, "queue")), again: false };
  throw new HTTPException(400, { message: "Nothing was chosen: tick one or several, then try again." });
}

const list = (context: Context, rows: readonly RefusedEvent[]): Html =>
  table(
    "Refused events, the newest first",
    [
      ...(context.writer
        ? [{ name: "Choose", cell: ({ id }: RefusedEvent) => tick(id, `Choose refused event ${id}`) }]
        : []),
      { name: "Refused", cell: ({ refusedAt }) => time(refusedAt) },
      { name: "Id", cell: ({ id }) => id },
      { name: "Queue", cell: (event) => event.queue },
      { name: "Field", cell: ({ field }) => html`<code>${field}</code>` },
      { name: "Reason", cell: ({ reason }) => reason },
      { name: "Bytes", cell: ({ bytes }) => count(bytes), number: true },
      {
        name: "Given back",
        cell: ({ retriedAt, retriedBy }) =>
          retriedAt ? html`${time(retriedAt)} by ${retriedBy ?? "nobody"}` : "not yet",
      },
      {
        name: "Body",
        cell: ({ body }) =>
          html`<details><summary>Show</summary><code class="body">${cut(body)}</code></details>`,
      },
    ],
    rows,
  );

const cut = (body: Buffer): string => {
  // At most four bytes a character: the rest is not even read.
  const text = body.subarray(0, 4 * much + 4).toString("utf8");
  return printable(text.slice(0, much)) + (text.length > much ? " …" : "");
};

const chosenFields = html`
  <label class="beside"><input type="checkbox" name="again"> Also what was given back before</label>
  ${reasonField("the shipments are registered now")}
  <button>Give back the chosen</button>`;

const whole = (context: Context): Html => html`<h2>All of a queue</h2>
  <p>All that came by it and were not given back yet.</p>
  ${(["event", "feedback"] as const).map((name) =>
    form(context, "/dead/refused", {
      button: `Give back all of the ${name} queue`,
      fields: hidden("queue", name),
      why: "what reads them is corrected",
    }),
  )}`;
