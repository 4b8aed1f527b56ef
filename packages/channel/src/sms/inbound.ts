import { RefusedError } from "../errors.ts";
import { isObject, textOf, unwrapped } from "./json.ts";
import { parseNumber } from "./number.ts";
import { optOutWord } from "./opt-out.ts";

/**
 * Parses a text that somebody sent to a number of ours, as two-way SMS gives it to an SNS topic (user guide of AWS End
 * User Messaging SMS, "Example of a two-way SMS message payload"). Only words that stop or start our texts are of
 * interest. Never throws.
 *
 * @returns `from`: the sender's number in E.164 form
 */
export function parseInboundSms(
  body: unknown,
): { from: string; word: "stop" | "start" } | { ignored: string } {
  const value = unwrapped(body);
  if (!isObject(value)) return { ignored: "it is no object" };
  if (!Object.hasOwn(value, "messageBody") || !Object.hasOwn(value, "originationNumber"))
    return { ignored: "it is no text message" };
  const word = optOutWord(textOf(value, "messageBody"));
  if (word === null) return { ignored: "it neither stops nor starts our texts" };
  try {
    return { from: parseNumber(textOf(value, "originationNumber")), word };
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return { ignored: "its originationNumber is not that of a person" };
  }
}
