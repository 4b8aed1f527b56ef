import * as v from "valibot";
import { templates } from "./names.ts";

/** A Liquid source. Nothing that is said in one sentence or two is longer. */
const source = v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(500));
const text = v.optional(source);

const message = v.strictObject({
  /** `buyer`: to the person who waits. `staff`: to those who work on it, the fact and what to do about it. */
  email: v.optional(v.strictObject({ subject: text, buyer: text, staff: text })),
  sms: v.optional(v.strictObject({ buyer: text, staff: text })),
  webhook: v.optional(v.strictObject({ title: text, text })),
});

/**
 * One language file. What it leaves out is said in English: a channel whose frame is missing, or a message of which
 * a text is missing, since one message is in one language.
 */
export const languageSchema = v.strictObject({
  tag: v.pipe(v.string(), v.check(isCanonical, "must be a BCP 47 tag in its usual spelling, such as pt-BR")),
  dir: v.picklist(["ltr", "rtl"]),
  email: v.optional(
    v.strictObject({
      /** The greeting with `name`, and the one for a buyer whose name is not used. */
      greeting: source,
      greetingWithoutName: source,
      labels: v.strictObject({ parcel: source, merchant: source, when: source }),
      /** On the button that leads to `link`. */
      track: source,
      /** Why the recipient gets this email. */
      footer: source,
    }),
  ),
  /** `track` is left out without a link, and both of them where they do not fit. */
  sms: v.optional(v.strictObject({ track: source, stop: source })),
  webhook: v.optional(v.strictObject({ track: source })),
  templates: v.record(v.picklist(templates), message),
});

export type Language = v.InferOutput<typeof languageSchema>;

function isCanonical(tag: string): boolean {
  try {
    return new Intl.Locale(tag).baseName === tag;
  } catch {
    return false;
  }
}
