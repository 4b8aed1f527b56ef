import { failing, succeeding } from "./simulator.ts";
import type { Text } from "./text.ts";

/** Types of events that end a text without its arrival (user guide, "Event types for SMS, MMS, and voice"). */
export type FailureType =
  | "TEXT_BLOCKED"
  | "TEXT_CARRIER_BLOCKED"
  | "TEXT_CARRIER_UNREACHABLE"
  | "TEXT_INVALID"
  | "TEXT_INVALID_MESSAGE"
  | "TEXT_PROTECT_BLOCKED"
  | "TEXT_SPAM"
  | "TEXT_TTL_EXPIRED"
  | "TEXT_UNKNOWN"
  | "TEXT_UNREACHABLE";

/** What becomes of a text that was accepted. Each is told by events, after the first one. */
export type SmsFate =
  /** `receipt`: whether the carrier reports the delivery; where it does not, its acceptance is the last that is heard. */
  | { readonly kind: "arrive"; readonly receipt?: boolean }
  | { readonly kind: "fail"; readonly type: FailureType }
  /** The phone is off for a time; `arrives`: and gets it in the end. */
  | { readonly kind: "delay"; readonly arrives?: boolean }
  /** It arrives, and the recipient answers. */
  | { readonly kind: "reply"; readonly text: string };

/** The fate of a text to one of AWS's simulator numbers; none for any other: nobody hears what becomes of it. */
export function simulatedFate({ to }: Text): SmsFate | undefined {
  if (succeeding.has(to)) return { kind: "arrive" };
  return failing.has(to) ? { kind: "fail", type: "TEXT_CARRIER_UNREACHABLE" } : undefined;
}
