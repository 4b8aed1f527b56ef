import type { Stopped } from "@owed/ledger";
import { mootAdvice } from "./text/moot.ts";

/** What a person can do about each kind of reason; the first that fits. */
const rules: readonly { fits: RegExp; advice: string }[] = [
  {
    fits: /^(no_address|NoAddress|InvalidAddress)\b/,
    advice: "correct the subscriber's address (SQL: owed.subscribe), then redrive",
  },
  {
    fits: /^lost\b/,
    advice: "see whether the deliver function runs and who purges its queue, then redrive",
  },
  {
    fits: /^no_channel\b/,
    advice: "deploy a worker that has this channel, then redrive",
  },
  {
    fits: /^(Uncomposable|InvalidNotification)\b/,
    advice: "its template or data can't be composed: correct and deploy it, then redrive",
  },
  {
    fits: /not verified \(recipient\)/,
    advice:
      "the provider's account is in its sandbox: verify the recipient or leave the sandbox, then redrive",
  },
  {
    fits: /suppress|blacklisted/i,
    advice: "the provider's own suppression list has the address: lift it there, then redrive; or cancel it",
  },
  {
    fits: /^(Throttling|TooManyRequests|LimitExceeded|Request(LimitExceeded|Throttled))/,
    advice: "the provider's limit was met: see 'owed status', then redrive",
  },
  {
    fits: /was not written$|^ServiceUnavailable\b/,
    advice: "the provider could not be reached: when it answers again, redrive",
  },
];

/** What to do about a row that waits for a person, without its id. */
export function adviceFor({
  state,
  reason,
  moot,
}: Pick<Stopped, "state" | "reason"> & { moot: string | null }): string {
  if (state === "unknown")
    return "look for it at the provider or ask the recipient, then: owed resolve <notification> --sent or --resend";
  if (moot !== null) return mootAdvice(moot);
  const rule = rules.find(({ fits }) => fits.test(reason));
  return rule?.advice ?? "mend what the reason names, then redrive; or cancel it if nobody wants it any more";
}

/** What else stands between us and an address once its suppression is lifted: the provider suppresses for itself. */
export const liftAdvice = (channel: string): string =>
  providersOwn[channel] ?? "The provider may suppress the address as well: look there too.";

const providersOwn: Record<string, string> = {
  email:
    "SES keeps an account-level suppression list of its own. While the address is on it, SES accepts an email and bounces it, and the address is suppressed here again: remove it there too, with 'aws sesv2 delete-suppressed-destination --email-address …'.",
};
