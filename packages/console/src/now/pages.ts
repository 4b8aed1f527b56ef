import { messageOf } from "@owed/cli/errors";
import { LedgerUnavailable } from "@owed/ledger";
import type { Hono } from "hono";
import type { Context } from "../context.ts";
import { show } from "../page/page.ts";
import { nowActions } from "./actions.ts";
import { sendLive } from "./live.ts";
import { readNow } from "./read.ts";
import { parseSpan } from "./spans.ts";
import { nowPage, silentPage } from "./view.ts";
import { createWatch, readCourses } from "./watch.ts";

/** How it stands now, live; and what can be stopped and started. */
export function nowPages(app: Hono, context: Context): void {
  const watch = createWatch(context);
  app.get("/", async (call) => {
    const span = parseSpan(call.req.query("span"));
    const page = { place: "now", title: "What is owed now", scripts: ["now"] } as const;
    try {
      const [now, courses] = await Promise.all([readNow(context), readCourses(context.ledger, [span])]);
      return await show(call, context, { ...page, body: nowPage(context, now, courses, span) });
    } catch (error) {
      if (!(error instanceof LedgerUnavailable)) throw error;
      call.status(503);
      return show(call, context, { ...page, body: silentPage(messageOf(error)) });
    }
  });
  app.get("/live", (call) => sendLive(call, context, watch, parseSpan(call.req.query("span"))));
  nowActions(app, context);
}
