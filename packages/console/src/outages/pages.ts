import { printable, toJson } from "@owed/cli/text/printable";
import type { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import type { Context } from "../context.ts";
import { show } from "../page/page.ts";
import { fileNameOf, fileOf } from "./file.ts";
import { listView } from "./list.ts";
import { titleOf } from "./parts.ts";
import { draw } from "./plot.ts";
import { type Format, parseName, parseQuery } from "./query.ts";
import { readOutage, readOutages } from "./read.ts";
import { outageView } from "./view.ts";

const types: Record<Format, string> = {
  html: "text/html; charset=utf-8",
  json: "application/json; charset=utf-8",
  svg: "image/svg+xml; charset=utf-8",
};

/** `/outages`, and each one's page and files: `/outages/2026-03-29T09:30:00.000Z`, with `.html`, `.json` or `.svg`. */
export function outagePages(app: Hono, context: Context): void {
  app.get("/outages", async (call) => {
    const query = parseQuery(call.req.query());
    const body = listView(await readOutages(context, query), query);
    return show(call, context, { place: "outages", title: "Outages", body, scripts: ["refresh"] });
  });

  app.get("/outages/:name", async (call) => {
    const { merchant } = parseQuery(call.req.query());
    const given = call.req.param("name");
    const name = parseName(given);
    const found = name && (await readOutage(context, name.from, merchant));
    if (!found)
      throw new HTTPException(404, {
        message: `No outage began at ${printable(given)}: the page Outages lists those that there are.`,
      });
    const { read, outage } = found;
    if (name.format === null)
      return show(call, context, {
        place: "outages",
        title: titleOf(outage),
        body: outageView(outage, await draw(outage), merchant, read.took),
        scripts: ["refresh"],
      });
    const { took: _, ...json } = read;
    const write: Record<Format, () => Promise<string>> = {
      html: async () => String(await fileOf(outage, await draw(outage), merchant, context)),
      json: async () => `${toJson(json)}\n`,
      svg: () => draw(outage),
    };
    return call.body(await write[name.format](), 200, {
      "content-type": types[name.format],
      "content-disposition": `attachment; filename="${fileNameOf(context, outage.from, name.format)}"`,
      "cache-control": "no-store",
    });
  });
}
