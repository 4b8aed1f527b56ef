import { channels, gaps, languages, templates } from "@owed/channel/templates";

/** A template's message on a channel; `missing`: by language, what it has not, so that English is said instead. */
export type Covered = {
  template: (typeof templates)[number];
  channel: (typeof channels)[number];
  missing: Record<string, string[]>;
};

/** Which message is there in which language: a row for each template and channel. */
export function coverage(): Covered[] {
  const known = [...languages().values()];
  return templates.flatMap((template) =>
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
}
