import type { SendResult } from "../channel.ts";
import type { Answer } from "../http/answer.ts";
import { StoppedError } from "../http/bounded.ts";
import { codeWord } from "../http/failure.ts";
import type { Flight } from "../http/flight.ts";
import { retryAfterSeconds } from "../http/retry-after.ts";
import type { Met } from "./endpoints.ts";

/** What a call means for the row, and for its endpoint. */
export type Verdict = { result: SendResult; met: Met };

/** Seconds, where a receiver asks for time and does not say how much. */
const defaultWait = 60;

type Rule = {
  from: number;
  to: number;
  word: string;
  verdict: "accepted" | "gone" | "redirect" | "wait" | "down" | "transient";
};

/**
 * What a status means; the first rule that fits decides. Only two end a row at once: the receiver wants nothing any
 * more (410), or names another address (3xx), which is not followed, since it was not the merchant who gave it and it
 * may lead into a private network. Any other client error may be a deployment or a secret that is being mended: it is
 * tried until the message's receives are spent, and then waits in the dead-letter queue for a redrive.
 */
const rules: readonly Rule[] = [
  { from: 200, to: 299, word: "Accepted", verdict: "accepted" },
  { from: 300, to: 399, word: "Redirect", verdict: "redirect" },
  { from: 410, to: 410, word: "Gone", verdict: "gone" },
  { from: 429, to: 429, word: "TooManyRequests", verdict: "wait" },
  // It waited for our request, too long: as a server that is down.
  { from: 408, to: 408, word: "RequestTimeout", verdict: "down" },
  { from: 425, to: 425, word: "TooEarly", verdict: "transient" },
  { from: 400, to: 499, word: "NotAccepted", verdict: "transient" },
  { from: 500, to: 599, word: "ServerError", verdict: "down" },
];
const odd: Rule = { from: 0, to: 999, word: "UnusableAnswer", verdict: "transient" };

/**
 * The result of an answer. The receiver's trouble says nothing against the channel, so it is `answered` in every case.
 *
 * @param id what the receiver's operator finds it by: the `webhook-id`
 */
export function verdictOf({ status, headers }: Answer, id: string): Verdict {
  const { word, verdict } = rules.find(({ from, to }) => from <= status && status <= to) ?? odd;
  const reason = `${word}: status ${status}`;
  const told = retryAfterSeconds(headers);
  switch (verdict) {
    case "accepted":
      return {
        result: { outcome: "accepted", provider: "webhook", providerMessageId: id },
        met: "answered",
      };
    case "gone":
      return { result: { outcome: "refused", reason, answered: true }, met: "answered" };
    case "redirect":
      return {
        result: { outcome: "refused", reason: `${reason}, redirects are not followed`, answered: true },
        met: "answered",
      };
    case "wait":
      return waiting(reason, told ?? defaultWait);
    case "down":
      if (told !== null) return waiting(reason, told);
      return { result: { outcome: "transient", reason, answered: true }, met: "failed" };
    case "transient":
      return { result: { outcome: "transient", reason, answered: true }, met: "answered" };
  }
}

const waiting = (reason: string, seconds: number): Verdict => ({
  result: { outcome: "throttled", reason, retryAfterSeconds: seconds, scope: "recipient" },
  met: { restSeconds: seconds },
});

/** The result of a call that got no answer. */
export function verdictOfFailure(error: unknown, flight: Flight): Verdict {
  const word = codeWord(error);
  // Our own caller's haste tells nothing of the endpoint.
  const met = error instanceof StoppedError && error.code === "Aborted" ? "nothing" : "failed";
  if (flight.certainlyUnsent) {
    const reason = `${word}: the request was not written`;
    return { result: { outcome: "transient", reason, answered: true }, met };
  }
  const reason = `${word}: no answer, the request was written`;
  return { result: { outcome: "unknown", reason, answered: true }, met };
}
