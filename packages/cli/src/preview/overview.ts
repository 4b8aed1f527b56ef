import { channels, gaps, languages, templates } from "@owed/channel/templates";
import type { Result } from "../output.ts";
import { table } from "../text/table.ts";

/** A row for each template and channel, a column for each language. */
export function overview(): Result {
  const known = [...languages().values()];
  const rows = templates.flatMap((template) =>
    channels.map((channel) => ({
      template,
      channel,
      missing: Object.fromEntries(
        known.map((language) => [
          language.tag,
          language[channel] ? gaps(language, template, channel) : ["all"],
        ]),
      ),
    })),
  );
  const cells = rows.map(({ template, channel, missing }) => [
    template,
    channel,
    ...Object.values(missing).map((texts) => (texts.length === 0 ? "yes" : `no ${texts.join(", ")}`)),
  ]);
  return {
    json: { templates: rows },
    lines: [
      ...table(["template", "channel", ...known.map(({ tag }) => tag)], cells),
      "",
      "What a language has not is said in English. Look at one: owed preview --template delivered --locale de",
    ],
  };
}
