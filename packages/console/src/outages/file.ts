import type { Proven } from "@owed/cli/report/find";
import { html, raw } from "hono/html";
import type { Context } from "../context.ts";
import type { Html } from "../page/page.ts";
import { time } from "../page/parts.ts";
import { partsOf } from "./outage.ts";
import { titleOf } from "./parts.ts";
import { inWords } from "./plot.ts";
import type { Format } from "./query.ts";

const style = `:root { color-scheme: light dark; }
body { max-width: 60rem; margin: 0 auto; padding: 1.5rem; font: 16px/1.5 system-ui, sans-serif;
  background: light-dark(#fff, #14171c); color: light-dark(#1a1d21, #e8eaed); }
svg { max-width: 100%; height: auto; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: 0.75rem; }
.facts dt { font-size: 0.875rem; }
.facts dd { margin: 0; font-weight: 600; }
.lead { font-size: 1.1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; font-size: 0.925rem; }
caption, th, td { text-align: start; padding: 0.3rem 0.75rem 0.3rem 0; }
caption { font-weight: 600; }
th, td { border-bottom: 1px solid light-dark(#d5d9df, #3a414b); vertical-align: top; }
.number { text-align: end; font-variant-numeric: tabular-nums; }
@media print { :root { color-scheme: light; } .scroll { overflow: visible; } tr, svg { break-inside: avoid; } }`;

/** One outage as one file: its own style, the plot inside, and nothing that is loaded or led to. */
export function fileOf(outage: Proven, svg: string, merchant: string | null, { stage }: Context): Html {
  const title = `${titleOf(outage)}, ${stage}`;
  const { proof, summary, fates, left, series } = partsOf(outage, {
    notification: (id) => html`${id}`,
    dead: "",
  });
  // Only what the plot's own numbers and times made is in the SVG: no text of the ledger's.
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    <style>${raw(style)}</style>
  </head>
  <body><main>
    <h1>${title}</h1>
    <p>Read at ${time(new Date())}.${merchant === null ? "" : html` Only the notifications of the merchant <bdi>${merchant}</bdi> are counted.`}</p>
    ${proof}
    ${summary}
    <h2>How it went</h2>
    <div role="img" aria-label="${inWords(outage)}">${raw(svg)}</div>
    <h2>What became of it</h2>
    ${fates}
    ${left}
    <h2>How it went, in numbers</h2>
    ${series}
  </main></body>
</html>
`;
}

/** Of letters, digits, full stops and hyphens alone, whatever the stage is called. */
export const fileNameOf = ({ stage }: Context, from: Date, format: Format): string =>
  `owed-outage-${stage.replace(/[^a-z0-9]+/gi, "-").slice(0, 40)}-${from.toISOString().replaceAll(":", "-")}.${format}`;
