import type { Context as Call, Hono } from "hono";
import { html } from "hono/html";
import { HTTPException } from "hono/http-exception";
import * as v from "valibot";
import type { Context } from "../context.ts";
import { type Html, show } from "../page/page.ts";
import { facts, time } from "../page/parts.ts";
import { parse } from "./choice.ts";
import { within } from "./parts.ts";
import type { Progress, Run, Runs } from "./runs.ts";
import { leftOnes } from "./try.ts";

const version = v.optional(
  v.pipe(v.string(), v.regex(/^-?\d{1,9}$/, "The version is a whole number."), v.transform(Number)),
  "-1",
);

/** How far a redrive is, and what became of it. */
export function runPages(app: Hono, context: Context, runs: Runs): void {
  const find = (call: Call): Run => {
    const run = runs.find(call.req.param("id") ?? "");
    if (run) return run;
    throw new HTTPException(404, {
      message:
        "This console does not know of this run: it was started since, or has forgotten it. What was done stands with each notification.",
    });
  };
  app.get("/dead/runs/:id", (call) => page(call, context, find(call)));
  app.get("/dead/runs/:id/progress", async (call) => {
    const run = find(call);
    await runs.changed(run, parse(version, call.req.query("after")));
    return call.json({
      version: run.version,
      text: textOf(run.progress),
      done: run.progress.done,
      total: run.progress.total,
      ended: run.outcome !== null,
    });
  });
}

const page = (call: Call, context: Context, run: Run) =>
  show(call, context, {
    place: "dead",
    title: run.title,
    ...(run.outcome ? {} : { scripts: ["progress"] }),
    body: html`${within(context, null)}
      ${run.outcome ? "" : going(run)}
      ${run.outcome?.sentences.map((sentence) => html`<p ${run.outcome?.failed ? html`role="alert"` : ""}>${sentence}</p>`)}
      ${facts([
        ["Begun", time(run.began)],
        ["Who", run.by.actor],
        ["Why", run.by.why],
      ])}
      ${leftOnes(run.outcome?.left ?? [])}
      <p><a href="${run.from}">Back to where it was begun</a></p>`,
  });

const going = ({ id, version: known, progress: { done, total, ...progress } }: Run): Html => html`
  <div class="progress" data-progress="/dead/runs/${id}/progress" data-version="${known}">
    <p id="doing" aria-live="polite">${textOf({ ...progress, done, total })}</p>
    ${
      total === null
        ? html`<progress aria-labelledby="doing"></progress>`
        : html`<progress aria-labelledby="doing" value="${done}" max="${Math.max(1, total)}"></progress>`
    }
  </div>
  <p>It goes on in the background, also when you leave this page; if the console ends, what is done stays done, and the rest is as it was.
    <a href="/dead/runs/${id}">Look again</a></p>`;

const textOf = ({ doing, done, total }: Progress): string =>
  total === null
    ? `It goes on: ${doing}.`
    : `It goes on: ${done.toLocaleString("en")} of ${total.toLocaleString("en")} ${doing}.`;
