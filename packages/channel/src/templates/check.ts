import * as v from "valibot";
import { fileTags } from "./check-files.ts";
import { checkMessage } from "./check-message.ts";
import { checkSource } from "./check-source.ts";
import { type Language, languageSchema } from "./language.ts";
import { defaultTag } from "./languages.ts";
import * as locales from "./locales/index.ts";
import { isTemplateName, type TemplateName, templates } from "./names.ts";
import { placesOf } from "./places.ts";

/** Something to mend (an error), or to know (a warning). */
export type Finding = {
  severity: "error" | "warning";
  /** The language, by its file's tag; empty where it is none's. */
  locale: string;
  /** The place in the file, such as `templates.customs_hold.email.subject`. */
  where: string;
  rule: string;
  message: string;
};

export const channels = ["email", "sms", "webhook"] as const;

/** What each channel needs of a template. */
const needed = {
  email: ["subject", "buyer", "staff"],
  sms: ["buyer", "staff"],
  webhook: ["title", "text"],
} as const;

/**
 * What is wrong with the templates, or missing. Without an error every message can be written in every language.
 * @param files the languages, as their files have them
 * @param lying the tags of the files that lie in the folder
 * @param used the names of templates that rules use
 */
export function checkTemplates({
  files,
  lying = files ? [] : fileTags(),
  used = [],
}: {
  files?: readonly unknown[];
  lying?: readonly string[];
  used?: Iterable<string>;
} = {}): Finding[] {
  const languages = files ?? Object.values(locales);
  const tags = languages.map(tagOf);
  return [
    ...[...new Set(used)].filter((name) => !isTemplateName(name)).map(unknownName),
    ...(tags.includes(defaultTag) ? [] : [noDefault]),
    ...lying.filter((tag) => !tags.includes(tag)).map(unlisted),
    ...languages.flatMap((file, at) => {
      const tag = tagOf(file);
      return tags.indexOf(tag) === at ? checkFile(file, tag) : [twice(tag)];
    }),
  ];
}

function checkFile(file: unknown, locale: string): Finding[] {
  const { success, output, issues } = v.safeParse(languageSchema, file);
  if (!success)
    return issues.map((issue) => ({
      severity: "error",
      locale,
      where: v.getDotPath(issue) ?? "the file",
      rule: "file",
      message: issue.message,
    }));
  const wrong = placesOf(output).flatMap((place): Finding[] =>
    checkSource(place, output.dir).map((fault) => ({
      severity: "error",
      locale,
      where: place.where,
      ...fault,
    })),
  );
  return [...wrong, ...missing(output), ...(wrong.length === 0 ? messages(output) : [])];
}

/** What is left out is said in English; English itself can leave out nothing. */
function missing(language: Language): Finding[] {
  const severity = language.tag === defaultTag ? "error" : "warning";
  const finding = (where: string): Finding => ({
    severity,
    locale: language.tag,
    where,
    rule: "missing",
    message: severity === "error" ? "is missing" : "is missing: what needs it is said in English",
  });
  return channels.flatMap((channel) =>
    language[channel]
      ? templates.flatMap((name) =>
          gaps(language, name, channel).map((text) => finding(`templates.${name}.${channel}.${text}`)),
        )
      : [finding(channel)],
  );
}

/** The texts of a template's channel that a language has not. */
export function gaps(language: Language, name: TemplateName, channel: (typeof channels)[number]): string[] {
  const texts: Record<string, string | undefined> = language.templates[name]?.[channel] ?? {};
  return needed[channel].filter((text) => !texts[text]);
}

const messages = (language: Language): Finding[] =>
  templates.flatMap((name) =>
    channels
      .filter((channel) => language[channel] && gaps(language, name, channel).length === 0)
      .flatMap((channel) =>
        checkMessage(channel, language, name).map((fault): Finding => {
          const where = `templates.${name}.${channel}`;
          return { severity: "error", locale: language.tag, where, ...fault };
        }),
      ),
  );

const tagOf = (file: unknown): string =>
  typeof file === "object" && file !== null && "tag" in file ? String(file.tag) : "";

const general = { severity: "error", locale: "" } as const;
const noDefault: Finding = { ...general, where: "locales", rule: "missing", message: "has no en.json" };
const unlisted = (tag: string): Finding => ({
  ...general,
  where: `${tag}.json`,
  rule: "unlisted",
  message:
    "is not in locales/index.ts under its own tag, so that nobody is written to in it: add a line there",
});
const twice = (tag: string): Finding => ({ ...general, where: tag, rule: "file", message: "is there twice" });
const unknownName = (name: string): Finding => ({
  ...general,
  where: name,
  rule: "unknown-template",
  message: `is used by a rule, and there is no such template: it must be one of ${templates.join(", ")}`,
});
