/** What an error answer of SES means for the row. `account`, `quota` and `rate` are kinds of throttling. */
export type Verdict = "refused" | "rate" | "quota" | "account" | "transient" | "unknown";

type Rule = { verdict: Verdict; codes: readonly string[]; message?: RegExp };

/**
 * SES v1's error codes: SendEmail's own, and the common errors of AWS's Query APIs. The first rule that fits
 * decides. Codes stand here without the suffix `Exception`, which SES uses for some of them only.
 *
 * Whatever would meet every row alike (paused sending, missing permission, a lost configuration set) must
 * kill none of them: it is `account`.
 */
const rules: readonly Rule[] = [
  // One name for two limits: a second's wait, or the rest of a day's.
  { codes: ["Throttling"], message: /daily message quota/i, verdict: "quota" },
  { codes: ["Throttling", "TooManyRequests", "RequestThrottled", "RequestLimitExceeded"], verdict: "rate" },
  { codes: ["LimitExceeded"], verdict: "quota" },

  // A paused or suspended account also answers MessageRejected ("Sending paused for this account.").
  { codes: ["MessageRejected"], message: /sending (is )?(paused|suspended)|account is/i, verdict: "account" },
  { codes: ["AccountSendingPaused", "ConfigurationSetSendingPaused", "SendingPaused"], verdict: "account" },
  { codes: ["AccountSuspended", "ConfigurationSetDoesNotExist"], verdict: "account" },
  { codes: ["MailFromDomainNotVerified", "FromEmailAddressNotVerified"], verdict: "account" },
  { codes: ["ProductionAccessNotGranted", "OptInRequired"], verdict: "account" },

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
  { codes: ["ExpiredToken", "TokenRefreshRequired"], verdict: "account" },
  { codes: ["InvalidAction", "MissingAction", "UnknownOperation"], verdict: "account" },

  // The content or the recipient of this one message.
  { codes: ["MessageRejected", "InvalidParameterValue", "InvalidParameterCombination"], verdict: "refused" },
  { codes: ["MissingParameter", "ValidationError", "Validation", "InvalidParameter"], verdict: "refused" },
  { codes: ["InvalidQueryParameter", "MalformedQueryString", "RequestEntityTooLarge"], verdict: "refused" },

  // "The request has failed due to a temporary failure of the server": SES was not able to handle it, as
  // HTTP's 503 says, and documents that a call it answers with an error sends no email.
  { codes: ["ServiceUnavailable"], verdict: "transient" },
  // "Failed because of an unknown error": how far SES came, it does not know itself, and its developer guide
  // warns of duplicates when 5xx answers are retried. Nothing here is certain, so the row waits for evidence.
  { codes: ["InternalFailure", "InternalError", "InternalServerError"], verdict: "unknown" },
];

/**
 * @param code the error code of SES's own error document, with or without the suffix `Exception`
 * @returns the verdict; for a code that is not in the table, by the status: SES did not take a request that
 *   it calls faulty (4xx), and anything else is open.
 */
export function verdictOf(code: string, message: string, status: number): Verdict {
  const bare = code.replace(/Exception$/, "");
  const rule = rules.find((r) => r.codes.includes(bare) && (r.message?.test(message) ?? true));
  return rule?.verdict ?? (status >= 400 && status < 500 ? "transient" : "unknown");
}
