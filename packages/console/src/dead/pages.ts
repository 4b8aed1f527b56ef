import type { Hono } from "hono";
import type { Context } from "../context.ts";
import { question } from "../guard/act.ts";
import { isEmpty, parseChoice, parseFilter } from "./choice.ts";
import { group } from "./group.ts";
import { overview } from "./overview.ts";
import { queuePages } from "./queue-page.ts";
import { redriveActions } from "./redrive.ts";
import { refusedPages } from "./refused.ts";
import { runPages } from "./run-page.ts";
import { Runs } from "./runs.ts";
import { suppressedPages } from "./suppressed.ts";
import { tryOut } from "./try.ts";
import { unknownPages } from "./unknown.ts";

/** What waits for a person, and what a person can do about it. */
export function deadPages(app: Hono, context: Context): void {
  const runs = new Runs();
  app.get("/dead", (call) => {
    const filter = parseFilter(call.req.query());
    return isEmpty(filter) ? overview(call, context, runs) : group(call, context, filter);
  });
  question(app, context, "/dead/try", (call, form) => tryOut(call, context, parseChoice(form)));
  redriveActions(app, context, runs);
  runPages(app, context, runs);
  queuePages(app, context, runs);
  unknownPages(app, context);
  suppressedPages(app, context);
  refusedPages(app, context, runs);
}
