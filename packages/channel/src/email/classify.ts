import { SESServiceException } from "@aws-sdk/client-ses";
import type { SendResult } from "../channel.ts";
import { type Answer, answerOf } from "../http/answer.ts";
import { explained, maxReason, throttled, unexplained, unprepared } from "../http/failure.ts";
import type { Flight } from "../http/flight.ts";
import { redacted } from "../redact.ts";
import { line } from "../text.ts";
import { verdictOf } from "./verdicts.ts";

type Context = {
  flight: Flight;
  /** The recipient's and our own address, as they went out. */
  to: string;
  from: string;
  /** The recipient's name, as it went out; empty where there is none. */
  name: string;
};

/** Turns what a send threw into a result. */
export function classify(error: unknown, context: Context): SendResult {
  const early = unprepared(error, context.flight);
  if (early) return early;
  const answer = answerOf(error);
  const code = error instanceof SESServiceException ? errorCode(error) : null;
  if (error instanceof SESServiceException && answer && code) return provided(error, code, answer, context);
  return unexplained(error, answer, context.flight);
}

function provided(error: SESServiceException, code: string, answer: Answer, context: Context): SendResult {
  const message = redacted(error.message, context.name);
  // What SES quotes of a recipient decides nothing: somebody may be called "Sending paused".
  const unverified = /address is not verified/i.test(message)
    ? unverifiedIdentity(error.message, context)
    : null;
  if (unverified) {
    const reason = `${code}: email address is not verified (${unverified})`;
    // In the sandbox every recipient must be verified too; the sender must be always.
    return unverified === "recipient"
      ? { outcome: "refused", reason, answered: true }
      : throttled(reason, answer, "account");
  }
  const verdict = verdictOf(code, message, answer.status);
  return explained(verdict, line(`${code}: ${message}`, maxReason), answer);
}

/**
 * "Email address is not verified. The following identities failed the check in region EU-WEST-1: …": the
 * recipient's fault only when the recipient is the only one named. The list may end with an ellipsis.
 */
function unverifiedIdentity(message: string, { to, from }: Context): "recipient" | "sender" {
  const names = message.toLowerCase().split(/[\s,;<>"]+|\.{2,}|…/);
  const ours = names.includes(from.toLowerCase()) || names.includes(domainOf(from));
  return !ours && names.includes(to.toLowerCase()) ? "recipient" : "sender";
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1).toLowerCase();
}

/** The code of SES's error document, or null where the answer had none. */
function errorCode(error: SESServiceException): string | null {
  const code: unknown = "Code" in error ? error.Code : undefined;
  return typeof code === "string" && /^[\w.-]{1,64}$/.test(code) ? code : null;
}
