import { languages } from "@owed/channel/templates";
import type { Result } from "../output.ts";
import { table } from "../text/table.ts";
import { coverage } from "./coverage.ts";

/** A row for each template and channel, a column for each language. */
export function overview(): Result {
  const rows = coverage();
  const cells = rows.map(({ template, channel, missing }) => [
    template,
    channel,
    ...Object.values(missing).map((texts) => (texts.length === 0 ? "yes" : `no ${texts.join(", ")}`)),
  ]);
  return {
    json: { templates: rows },
    lines: [
      ...table(["template", "channel", ...languages().keys()], cells),
      "",
      "What a language has not is said in English. Look at one: owed preview --template delivered --locale de",
    ],
  };
}
