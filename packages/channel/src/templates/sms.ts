import type { SendRequest } from "../channel.ts";
import { choose } from "./choose.ts";
import { isGsm, septets, toGsm } from "./gsm.ts";
import type { Language } from "./language.ts";
import type { Languages } from "./languages.ts";
import { inText } from "./liquid.ts";
import type { TemplateName } from "./names.ts";
import { valuesOf } from "./values.ts";

/** UTF-16 units, so that a value takes no more of a message than that: an SMS is paid by its length. */
const longestMerchant = 20;
/** Carriers' numbers have up to 39 characters (DHL eCommerce). */
const longestParcel = 40;

/**
 * The text message of one notification, in the recipient's language. The link and the way to opt out are in it where
 * they fit: in one segment of the GSM 7-bit alphabet, in two of UCS-2.
 * @param known the languages to choose from; those there are, if it is left out
 * @throws RefusedError as `renderEmail` does.
 */
export function renderSms(request: SendRequest, known?: Languages): string {
  const reader = request.role === "buyer" ? "buyer" : "staff";
  const pick = (of: Language, template: TemplateName) => {
    const body = of.templates[template]?.sms?.[reader];
    return of.sms && body ? { ...of.sms, body } : null;
  };
  const { texts, formats } = choose(request, pick, known);
  const values = valuesOf(request, formats);
  // One character outside of the alphabet would make a segment of 160 characters one of 70.
  const fold = isGsm(texts.body) ? toGsm : (value: string) => value;
  const short = {
    ...values,
    merchant: cut(fold(values.merchant), longestMerchant),
    parcel: cut(fold(values.parcel), longestParcel),
  };
  const sentences = values.link ? [texts.track, texts.stop] : [texts.stop];
  let text = inText(texts.body, short);
  for (const sentence of sentences) {
    const longer = `${text} ${inText(sentence, short)}`;
    if (fits(longer)) text = longer;
  }
  return text;
}

/** 160 septets are one segment of the GSM alphabet; 2 × 67 UTF-16 units are two of UCS-2, with their headers. */
export const fits = (text: string): boolean => (isGsm(text) ? septets(text) <= 160 : text.length <= 134);

function cut(value: string, most: number): string {
  if (value.length <= most) return value;
  let kept = "";
  for (const character of value) {
    if (kept.length + character.length > most - 2) break;
    kept += character;
  }
  return `${kept.trimEnd()}..`;
}
