import type { Language } from "./language.ts";
import type { variables } from "./values.ts";

type Variable = (typeof variables)[number];

/** A text of a language file: where it stands, what it may speak of, and what it must. */
export type Place = { where: string; source: string; may: readonly Variable[]; must: readonly Variable[] };

type Rule = Pick<Place, "may" | "must">;

const nothing: Rule = { may: [], must: [] };
const link: Rule = { may: ["link"], must: ["link"] };
const title: Rule = { may: ["parcel", "merchant"], must: ["parcel"] };
const sentence: Rule = { may: ["parcel", "merchant", "when"], must: [] };

const rules: Record<string, Rule> = {
  "email.greeting": { may: ["name", "merchant"], must: ["name"] },
  "email.greetingWithoutName": { may: ["merchant"], must: [] },
  "email.footer": { may: ["parcel", "merchant"], must: [] },
  "sms.track": link,
  "webhook.track": link,
};

/** Of a message. The layout of an email says the parcel, the merchant and the time; nothing does that for the others. */
const messageRules: Record<string, Rule> = {
  "email.subject": title,
  "email.buyer": sentence,
  "email.staff": sentence,
  // No time: it is long, and written with characters that the GSM alphabet has not.
  "sms.buyer": { may: ["parcel", "merchant"], must: ["parcel", "merchant"] },
  "sms.staff": { may: ["parcel", "merchant"], must: ["parcel", "merchant"] },
  "webhook.title": title,
  "webhook.text": { ...sentence, must: ["parcel", "merchant"] },
};

/** All texts of a language, each with its place in the file. */
export function placesOf({ email, sms, webhook, templates }: Language): Place[] {
  const frame = leaves({ email, sms, webhook }).map(([where, source]) => ({
    where,
    source,
    ...(rules[where] ?? nothing),
  }));
  const messages = Object.entries(templates).flatMap(([name, message]) =>
    leaves(message).map(([where, source]) => ({
      where: `templates.${name}.${where}`,
      source,
      ...(messageRules[where] ?? nothing),
    })),
  );
  return [...frame, ...messages];
}

function leaves(value: object): [string, string][] {
  return Object.entries(value).flatMap(([key, inner]): [string, string][] => {
    if (typeof inner === "string") return [[key, inner]];
    if (typeof inner !== "object" || inner === null) return [];
    return leaves(inner).map(([rest, text]) => [`${key}.${rest}`, text]);
  });
}
