import { foreseeQueue, redriveEvents, redriveNotifications } from "@owed/cli/redrive/of-queue";
import { type QueueName, queueNames } from "@owed/cli/services";
import { mootText } from "@owed/cli/text/moot";
import type { Hono } from "hono";
import { html } from "hono/html";
import { HTTPException } from "hono/http-exception";
import type { Context } from "../context.ts";
import { action } from "../guard/act.ts";
import { type Html, show } from "../page/page.ts";
import { form, table } from "../page/parts.ts";
import { count, plural, within } from "./parts.ts";
import { lastText, readLetters } from "./queues.ts";
import type { Begin, Outcome, Runs } from "./runs.ts";

/** A dead-letter queue: what is in it, what SQS's own redrive of it would do, and the form that starts one. */
export function queuePages(app: Hono, context: Context, runs: Runs): void {
  app.get("/dead/queue/:name", async (call) => {
    const name = queueNames.find((known) => known === call.req.param("name"));
    if (!name) throw new HTTPException(404, { message: `The queues are ${queueNames.join(", ")}.` });
    const letters = await readLetters(context, name);
    return show(call, context, {
      place: "dead",
      title: `The dead-letter queue of the ${name} queue`,
      body: html`${within(context, null)}
        <p class="lead">It holds about ${plural(letters.messages, "message")}. SQS's last redrive: ${lastText(letters)}.</p>
        <h2>What SQS's own redrive would do</h2>
        <p>It would move about ${plural(letters.messages, "message")} back to the ${name} queue.</p>
        ${name === "notification" ? await notifications(context) : events(context, name)}`,
    });
  });
  const begin = (
    about: Omit<Begin, "title" | "from"> & { name: QueueName },
    work: (progress: (line: string) => void) => Promise<{ lines: readonly string[]; exitCode?: number }>,
  ) => {
    const { name, by } = about;
    const title = `SQS's redrive of the dead-letter queue of the ${name} queue`;
    const run = runs.begin({ title, by, from: `/dead/queue/${name}` }, async (report) => {
      const { lines, exitCode = 0 } = await work((doing) => report({ doing, done: 0, total: null }));
      return { sentences: lines, left: [], failed: exitCode === 1 } satisfies Outcome;
    });
    return { to: `/dead/runs/${run.id}`, said: `${title} has begun.` };
  };
  action(app, context, "/dead/queue/notification", async ({ act, writer }) =>
    begin({ name: "notification", by: act }, (progress) =>
      redriveNotifications({ ...context.services, ledger: writer, progress }, act, { wait: true }),
    ),
  );
  for (const name of ["event", "feedback"] as const)
    action(app, context, `/dead/queue/${name}`, async ({ act, writer }) =>
      begin({ name, by: act }, (progress) =>
        redriveEvents({ ...context.services, ledger: writer, progress }, name, act, { wait: true }),
      ),
    );
}

async function notifications(context: Context): Promise<Html> {
  const { ids, moot } = await foreseeQueue(context);
  return html`<p>${plural(ids.length, "dead notification")} may have a message there. The ledger decides on each message again: what was delivered or is no longer true is not sent.</p>
    ${
      moot.length === 0
        ? ""
        : table(
            "Of these would be cancelled",
            [
              { name: "Why", cell: ({ reason }) => mootText(reason) },
              { name: "How many", cell: ({ count: of }) => count(of), number: true },
            ],
            moot,
          )
    }
    <p>To owe some of them again, or one whose message has expired, <a href="/dead">choose them by their reason</a>.</p>
    ${
      context.writer
        ? form(context, "/dead/queue/notification", {
            button: "Start SQS's redrive",
            why: "the provider is back",
          })
        : ""
    }`;
}

const events = (context: Context, name: QueueName): Html => html`
  <p>These are events that nobody could take in a thousand tries: no notification is behind them yet. Each is recorded once, however often it comes.</p>
  ${context.writer ? form(context, `/dead/queue/${name}`, { button: "Start SQS's redrive", why: "the ledger is back" }) : ""}`;
