import { commonRules, judge, type Rule, type Verdict } from "../http/verdict.ts";

/** What AWS End User Messaging says of an error: its code, and why (`Reason`, and the names of its `Fields`). */
export type Explanation = { code: string; reason: string; fields: readonly string[]; message: string };

/** The reason that a number which has opted out is refused for. */
export const optedOut = "DESTINATION_PHONE_NUMBER_OPTED_OUT";

/** What is wrong with this one recipient or text. Everything else would meet every row alike. */
const ownFaults: ReadonlySet<string> = new Set([
  // ConflictException
  optedOut,
  "DESTINATION_PHONE_NUMBER_NOT_VERIFIED", // in the sandbox
  "DESTINATION_COUNTRY_BLOCKED_BY_PROTECT_CONFIGURATION",
  "DESTINATION_PHONE_NUMBER_BLOCKED_BY_PROTECT_NUMBER_OVERRIDE",
  // ValidationException: a country that we cannot send to
  "COUNTRY_CODE_MISMATCH",
  "COUNTRY_NOT_ENABLED",
  "DESTINATION_COUNTRY_BLOCKED",
  "INTERNATIONAL_SENDING_NOT_SUPPORTED",
  "INVALID_IDENTITY_FOR_DESTINATION_COUNTRY",
  "SENDER_ID_NOT_REGISTERED",
  "SENDER_ID_NOT_SUPPORTED",
  "SENDER_ID_REQUIRES_REGISTRATION",
  // … or a text that is not taken
  "MAXIMUM_SIZE_EXCEEDED",
  "PRICE_OVER_THRESHOLD",
]);

/** Of a request's fields, those that are this row's own. */
const ownFields: ReadonlySet<string> = new Set(["destinationphonenumber", "messagebody", "context"]);

/** Reasons that name a field, or should. */
const byField: ReadonlySet<string> = new Set([
  "CANNOT_PARSE",
  "FIELD_VALIDATION_FAILED",
  "INVALID_PARAMETER",
  "MISSING_PARAMETER",
  "OTHER",
  "",
]);

/** The rest of SendTextMessage's errors (API reference of AWS End User Messaging SMS, version 2). */
const rules: readonly Rule[] = [
  // The month's spend limit, or another quota of the account's.
  { codes: ["ServiceQuotaExceeded"], verdict: "quota" },
  // The account is disabled, or a resource (number, pool, configuration set) is missing, not active or not of the kind.
  { codes: ["AccessDenied", "ResourceNotFound", "Conflict", "Validation"], verdict: "account" },
  ...commonRules,
];

/**
 * The verdict of an error answer. Whatever would meet every row alike must kill none of them: it is `account`.
 *
 * `NO_ORIGINATION_IDENTITIES_FOUND` comes for an empty pool, and for one whose numbers do not reach this recipient's
 * country. So this recipient waits, no row dies, and the channel stays open for the others.
 */
export function verdictOf({ code, reason, fields, message }: Explanation, status: number): Verdict {
  const faulty = /^(Conflict|Validation)(Exception)?$/.test(code);
  if (faulty && reason === "NO_ORIGINATION_IDENTITIES_FOUND") return "recipient";
  if (faulty && ownFaults.has(reason)) return "refused";
  if (/^Validation/.test(code) && byField.has(reason)) {
    // Without a name of a field: our own fields were checked when the channel was made, the row's are new each time.
    if (fields.every((field) => ownFields.has(field.toLowerCase()))) return "refused";
  }
  return judge(rules, code, message, status);
}
