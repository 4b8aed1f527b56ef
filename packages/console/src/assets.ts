import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { transformSync } from "esbuild";
import type { Hono } from "hono";

const here = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
const ofPackage = (name: string) => readFileSync(fileURLToPath(import.meta.resolve(name)), "utf8");

/** A client script, as the browser takes it: without its types. */
const script = (name: string) => () => transformSync(here(`../client/${name}.ts`), { loader: "ts" }).code;

const files: Record<string, { type: string; read: () => string }> = {
  "style.css": { type: "text/css", read: () => here("../client/style.css") },
  "icon.svg": { type: "image/svg+xml", read: () => here("../client/icon.svg") },
  "now.js": { type: "text/javascript", read: script("now") },
  "plot.js": { type: "text/javascript", read: script("plot") },
  "progress.js": { type: "text/javascript", read: script("progress") },
  "refresh.js": { type: "text/javascript", read: script("refresh") },
  "uplot.js": { type: "text/javascript", read: () => ofPackage("uplot/dist/uPlot.esm.js") },
  "uplot.css": { type: "text/css", read: () => ofPackage("uplot/dist/uPlot.min.css") },
};

/** What the pages load: all of it from here, so that they work without a network. */
export function assets(app: Hono): void {
  const read = new Map<string, string>();
  app.get("/assets/:name", (call) => {
    const name = call.req.param("name");
    const file = Object.hasOwn(files, name) ? files[name] : undefined;
    if (!file) return call.notFound();
    const text = read.get(name) ?? file.read();
    read.set(name, text);
    return call.body(text, 200, {
      "content-type": `${file.type}; charset=utf-8`,
      "cache-control": "no-cache",
    });
  });
}
