import type { SendResult, ThrottleScope } from "../channel.ts";
import { line } from "../text.ts";
import type { Answer } from "./answer.ts";
import { StoppedError } from "./bounded.ts";
import type { Flight } from "./flight.ts";
import { retryAfterSeconds } from "./retry-after.ts";
import type { Verdict } from "./verdict.ts";

/** Code points of a reason. */
export const maxReason = 200;

/**
 * What a failed call of the AWS SDK means where the provider has said nothing that its error code would tell.
 *
 * @param answer the HTTP answer, where there was one
 */
export function unexplained(error: unknown, answer: Answer | null, flight: Flight): SendResult {
  // An answer that is not the provider's own document (a proxy's page, an empty body) proves nothing but a 429.
  if (answer?.status === 429) return throttled("TooManyRequests: no error code", answer, "rate");
  if (answer) return { outcome: "unknown", reason: `UnusableAnswer: status ${answer.status}` };
  const word = codeWord(error);
  if (flight.certainlyUnsent)
    return { outcome: "transient", reason: `${word}: the request was not written`, answered: false };
  return { outcome: "unknown", reason: `${word}: no answer, the request was written` };
}

/**
 * What a failure before there was a request means: null where there was one, or where the caller stopped it.
 * Region, endpoint, credentials and signature are the same for every row, and no row's data is in the message.
 */
export function unprepared(error: unknown, flight: Flight): SendResult | null {
  if (flight.stage !== "preparing" || !(error instanceof Error) || error instanceof StoppedError) return null;
  return throttled(line(`${codeWord(error)}: ${error.message}`, maxReason), null, "account");
}

/** The result of an error answer that the provider explained. */
export function explained(verdict: Verdict, reason: string, answer: Answer): SendResult {
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

/** A throttle that lasts as long as the answer's Retry-After says, if it has one. */
export function throttled(reason: string, answer: Answer | null, scope: ThrottleScope): SendResult {
  const retryAfter = answer ? retryAfterSeconds(answer.headers) : null;
  return { outcome: "throttled", reason, retryAfterSeconds: retryAfter, scope };
}

/** A short word for a failure that no answer explains: a system error's code (`ECONNRESET`) or a name. */
export function codeWord(error: unknown): string {
  if (!(error instanceof Error)) return "Failed";
  const code = "code" in error && typeof error.code === "string" ? error.code : error.name;
  return /^\w{1,64}$/.test(code) ? code : "Failed";
}
