import { commonRules, judge, type Rule, type Verdict } from "../http/verdict.ts";

/**
 * SES v1's error codes: SendEmail's own, and the common errors of AWS's Query APIs. The first rule that fits decides.
 *
 * Whatever would meet every row alike (paused sending, missing permission, a lost configuration set) must
 * kill none of them: it is `account`.
 */
const rules: readonly Rule[] = [
  // One name for two limits: a second's wait, or the rest of a day's.
  { codes: ["Throttling"], message: /daily message quota/i, verdict: "quota" },
  { codes: ["LimitExceeded"], verdict: "quota" },

  // A paused or suspended account also answers MessageRejected ("Sending paused for this account.").
  { codes: ["MessageRejected"], message: /sending (is )?(paused|suspended)|account is/i, verdict: "account" },
  { codes: ["AccountSendingPaused", "ConfigurationSetSendingPaused", "SendingPaused"], verdict: "account" },
  { codes: ["AccountSuspended", "ConfigurationSetDoesNotExist"], verdict: "account" },
  { codes: ["MailFromDomainNotVerified", "FromEmailAddressNotVerified"], verdict: "account" },
  { codes: ["ProductionAccessNotGranted"], verdict: "account" },

  // The content or the recipient of this one message.
  { codes: ["MessageRejected", "InvalidParameterValue", "InvalidParameterCombination"], verdict: "refused" },
  { codes: ["MissingParameter", "ValidationError", "Validation", "InvalidParameter"], verdict: "refused" },
  { codes: ["InvalidQueryParameter", "MalformedQueryString", "RequestEntityTooLarge"], verdict: "refused" },

  // SES documents that a call it answers with an error sends no email, and warns of duplicates when a 5xx is retried:
  // an outage it names itself (503) is taken at its word, an unknown error is not.
  ...commonRules,
];

/**
 * @param code the error code of SES's own error document, with or without the suffix `Exception`
 * @returns the verdict; for a code that is not in the table, by the status (see `judge`)
 */
export const verdictOf = (code: string, message: string, status: number): Verdict =>
  judge(rules, code, message, status);
