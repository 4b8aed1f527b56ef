import { SESServiceException } from "@aws-sdk/client-ses";
import type { SendResult, ThrottleScope } from "../channel.ts";
import { line } from "../text.ts";
import { StoppedError } from "./bounded.ts";
import type { Flight } from "./flight.ts";
import { retryAfterSeconds } from "./retry-after.ts";
import { type Verdict, verdictOf } from "./verdicts.ts";

type Context = {
  flight: Flight;
  /** The recipient's and our own address, as they went out. */
  to: string;
  from: string;
  /** The recipient's name, as it went out; empty where there is none. */
  name: string;
};

const maxReason = 200;

/** Turns what a send threw into a result. */
export function classify(error: unknown, context: Context): SendResult {
  const { flight } = context;
  const word = codeWord(error);
  // Region, endpoint, credentials and signature are the same for every row, and no row's data is in the message.
  if (flight.stage === "preparing" && error instanceof Error && !(error instanceof StoppedError)) {
    return throttled(line(`${word}: ${error.message}`, maxReason), null, "account");
  }
  const answer = answerOf(error);
  const code = error instanceof SESServiceException ? errorCode(error) : null;
  if (error instanceof SESServiceException && answer && code) return provided(error, code, answer, context);
  // An answer that is not SES's own document (a proxy's page, an empty body) proves nothing but a 429.
  if (answer?.status === 429) return throttled("TooManyRequests: no error code", answer, "rate");
  if (answer) return { outcome: "unknown", reason: `UnusableAnswer: status ${answer.status}` };

  if (flight.certainlyUnsent)
    return { outcome: "transient", reason: `${word}: the request was not written`, answered: false };
  return { outcome: "unknown", reason: `${word}: no answer, the request was written` };
}

function provided(error: SESServiceException, code: string, answer: Answer, context: Context): SendResult {
  const message = redacted(error.message, context);
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
  const reason = line(`${code}: ${message}`, maxReason);
  const verdict: Verdict = verdictOf(code, message, answer.status);
  switch (verdict) {
    case "refused":
      return { outcome: "refused", reason, answered: true };
    case "unknown":
      return { outcome: "unknown", reason };
    case "transient": {
      // A server that says when to come back is obeyed, and the wait costs the row no attempt.
      const told = retryAfterSeconds(answer.headers) !== null;
      if (told) return throttled(reason, answer, "rate");
      // Its own document with a client error: it works, and has something against this one message.
      return { outcome: "transient", reason, answered: answer.status < 500 };
    }
    default:
      return throttled(reason, answer, verdict);
  }
}

function throttled(reason: string, answer: Answer | null, scope: ThrottleScope): SendResult {
  const retryAfter = answer ? retryAfterSeconds(answer.headers) : null;
  return { outcome: "throttled", reason, retryAfterSeconds: retryAfter, scope };
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

/** Takes addresses and the recipient's name, plain or encoded, out of a provider's message. */
function redacted(message: string, { name }: Context): string {
  // A shorter name would tear ordinary words apart, and make the reason another one for each recipient.
  const nameless = name.length > 2 ? message.replaceAll(name, "[name]") : message;
  return (
    nameless
      .replace(/=\?[^?\s]*\?[BQ]\?[^?\s]*\?=/gi, "[name]")
      // Word by word: looking for an @ from each character on would take the square of the message's length.
      .replace(/[^\s<>"',;:()]+/g, (word) => (word.includes("@") ? "[address]" : word))
  );
}

type Answer = { status: number; headers: Record<string, string> };

/** The HTTP answer that the SDK attaches to what it throws, if there was one. */
function answerOf(error: unknown): Answer | null {
  if (!(error instanceof Error) || !("$response" in error)) return null;
  const response = error.$response;
  if (typeof response !== "object" || response === null || !("statusCode" in response)) return null;
  if (typeof response.statusCode !== "number") return null;
  const headers: Record<string, string> = {};
  if ("headers" in response && typeof response.headers === "object") {
    for (const [name, value] of Object.entries(response.headers ?? {})) headers[name] = String(value);
  }
  return { status: response.statusCode, headers };
}

/** The code of SES's error document, or null where the answer had none. */
function errorCode(error: SESServiceException): string | null {
  const code: unknown = "Code" in error ? error.Code : undefined;
  return typeof code === "string" && /^[\w.-]{1,64}$/.test(code) ? code : null;
}

/** A short word for a failure that no answer explains: a system error's code (`ECONNRESET`) or a name. */
function codeWord(error: unknown): string {
  if (!(error instanceof Error)) return "Failed";
  const code = "code" in error && typeof error.code === "string" ? error.code : error.name;
  return /^\w{1,64}$/.test(code) ? code : "Failed";
}
