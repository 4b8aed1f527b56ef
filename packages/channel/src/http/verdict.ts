/**
 * What an error answer of a provider's means for the row. `account`, `quota`, `rate` and `recipient` are kinds of
 * throttling.
 */
export type Verdict = "refused" | "rate" | "quota" | "account" | "recipient" | "transient" | "unknown";

/** Codes stand here without the suffix `Exception`, which AWS uses for some of them only. */
export type Rule = { verdict: Verdict; codes: readonly string[]; message?: RegExp };

/** The errors that all services of AWS have in common (their API references, "Common Errors"). */
export const commonRules: readonly Rule[] = [
  { codes: ["Throttling", "TooManyRequests", "RequestThrottled", "RequestLimitExceeded"], verdict: "rate" },

  // A clock that is off, or a process that was frozen between signature and request: sign again.
  {
    codes: ["SignatureDoesNotMatch", "InvalidSignature"],
    message: /signature (expired|not yet)/i,
    verdict: "transient",
  },
  { codes: ["RequestExpired", "RequestTimeTooSkewed"], verdict: "transient" },
  { codes: ["AccessDenied", "NotAuthorized", "UnauthorizedOperation", "AuthFailure"], verdict: "account" },
  { codes: ["InvalidClientTokenId", "UnrecognizedClient", "MissingAuthenticationToken"], verdict: "account" },
  { codes: ["SignatureDoesNotMatch", "InvalidSignature", "IncompleteSignature"], verdict: "account" },
  { codes: ["ExpiredToken", "TokenRefreshRequired", "OptInRequired"], verdict: "account" },
  { codes: ["InvalidAction", "MissingAction", "UnknownOperation"], verdict: "account" },

  // "The request has failed due to a temporary failure of the server": it was not able to handle the request, as
  // HTTP's 503 says.
  { codes: ["ServiceUnavailable"], verdict: "transient" },
  // "Failed because of an unknown error": how far the service came, it does not know itself, and a call that is
  // repeated may send twice. Nothing here is certain, so the row waits for evidence.
  {
    codes: ["InternalFailure", "InternalError", "InternalServerError", "InternalServer"],
    verdict: "unknown",
  },
];

/**
 * The verdict of the first rule that fits.
 *
 * @param code the error code of the service's own answer, with or without the suffix `Exception`
 * @returns for a code that is in no rule, by the status: the service did not take a request that it calls faulty
 *   (4xx), and anything else is open.
 */
export function judge(rules: readonly Rule[], code: string, message: string, status: number): Verdict {
  const bare = code.replace(/Exception$/, "");
  const rule = rules.find((r) => r.codes.includes(bare) && (r.message?.test(message) ?? true));
  return rule?.verdict ?? (status >= 400 && status < 500 ? "transient" : "unknown");
}
