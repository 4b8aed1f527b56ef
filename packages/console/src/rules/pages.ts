import { rendered } from "@owed/cli/preview/render";
import { checkRules } from "@owed/cli/rules/check";
import type { Hono } from "hono";
import type { Context } from "../context.ts";
import { show } from "../page/page.ts";
import { historyView, readVersions } from "./history.ts";
import { listView } from "./list.ts";
import { previewView } from "./preview.ts";
import { previewQuery, valuesOf } from "./preview-query.ts";
import { listQuery, parsed, ruleQuery, tryQuery } from "./query.ts";
import { templatesView } from "./templates.ts";
import { tryView } from "./try.ts";

/** `/rules`, who is told what; `/rules/templates`, in which words. Nothing here changes anything. */
export function rulePages(app: Hono, context: Context): void {
  app.get("/rules", async (call) => {
    const query = parsed(listQuery, call.req.query());
    const body = listView(context, await checkRules(context.ledger), query);
    return show(call, context, { place: "rules", title: "Rules and templates", body });
  });

  app.get("/rules/history", async (call) => {
    const versions = await readVersions(context, parsed(ruleQuery, call.req.query()));
    const body = historyView(context, versions);
    return show(call, context, { place: "rules", title: `History of rule ${versions[0].id}`, body });
  });

  app.get("/rules/try", async (call) => {
    const body = await tryView(context, parsed(tryQuery, call.req.query()));
    return show(call, context, { place: "rules", title: "What would an event tell?", body });
  });

  app.get("/rules/templates", (call) =>
    show(call, context, { place: "rules", title: "Templates", body: templatesView(context) }),
  );

  app.get("/rules/templates/preview", (call) => {
    const query = parsed(previewQuery, call.req.query());
    const title = `${query.template} by ${query.channel}`;
    return show(call, context, { place: "rules", title, body: previewView(query) });
  });

  app.get("/rules/templates/email", (call) => {
    const query = parsed(previewQuery, call.req.query());
    return call.html(rendered("email", query.template, valuesOf(query)).message.html);
  });
}
