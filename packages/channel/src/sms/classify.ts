import { PinpointSMSVoiceV2ServiceException } from "@aws-sdk/client-pinpoint-sms-voice-v2";
import type { SendResult } from "../channel.ts";
import { answerOf } from "../http/answer.ts";
import { explained, maxReason, unexplained, unprepared } from "../http/failure.ts";
import type { Flight } from "../http/flight.ts";
import { redacted } from "../redact.ts";
import { line } from "../text.ts";
import { type Explanation, optedOut, verdictOf } from "./verdicts.ts";

/** Turns what a send threw into a result. `name`: the recipient's; empty where there is none. */
export function classify(error: unknown, { flight, name }: { flight: Flight; name: string }): SendResult {
  const early = unprepared(error, flight);
  if (early) return early;
  const answer = answerOf(error);
  const explanation = explanationOf(error, name);
  if (!answer || !explanation) return unexplained(error, answer, flight);
  return explained(verdictOf(explanation, answer.status), reasonOf(explanation), answer);
}

/** What stands in the service's own error document, less what it quotes of a person; null where there was none. */
function explanationOf(error: unknown, name: string): Explanation | null {
  // The SDK's name for an answer without such a document.
  if (!(error instanceof PinpointSMSVoiceV2ServiceException) || error.name === "Unknown") return null;
  if (!/^[A-Za-z][\w.-]{0,63}$/.test(error.name)) return null;
  const reason: unknown = "Reason" in error ? error.Reason : undefined;
  return {
    code: error.name,
    reason: typeof reason === "string" && /^[A-Z_]{1,80}$/.test(reason) ? reason : "",
    fields: fieldsOf("Fields" in error ? error.Fields : undefined),
    message: withoutNumbers(redacted(error.message, name)),
  };
}

function fieldsOf(fields: unknown): string[] {
  if (!Array.isArray(fields)) return [];
  const names = fields.map((field: unknown) => Object(field).Name as unknown);
  return names.map((field) => (typeof field === "string" && /^\w{1,40}$/.test(field) ? field : "(unknown)"));
}

function reasonOf({ code, reason, fields, message }: Explanation): string {
  if (reason === optedOut) return "OptedOut: the recipient has opted out of our texts";
  const why = [reason, ...fields.slice(0, 3)].filter(Boolean).join(" ");
  return line(`${code}: ${why ? `${why}: ` : ""}${message}`, maxReason);
}

/** Telephone numbers go out as a row of digits, and that is how they are quoted. */
const withoutNumbers = (message: string): string => message.replace(/\+?\d{5,}/g, "[number]");
