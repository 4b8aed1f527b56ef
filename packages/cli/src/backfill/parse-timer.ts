import { isInstant } from "@owed/functions/instant";
import { type Refusal, roles, type Timer } from "@owed/ledger";
import * as v from "valibot";

/** A record as the file has it, with the line that it begins in. */
export type Fields = { line: number; fields: Record<string, unknown> };

/** A text without what no name or address holds; U+FFFD is what a decoder leaves of bytes that are not UTF-8. */
const text = (most: number) =>
  v.pipe(
    v.string("must be a text"),
    // Half a character, of an escape in JSON: neither UTF-8 nor the ledger can hold it.
    v.check((given) => given.isWellFormed(), "is not Unicode: half of a surrogate pair"),
    v.check((given) => !given.includes("\uFFFD"), "is not UTF-8"),
    v.trim(),
    v.nonEmpty("is missing"),
    v.maxLength(most, `must be at most ${most} characters`),
    v.regex(/^\P{Cc}*$/u, "must have no control characters"),
  );

/** CSV has no null: an empty field is none. */
const optional = <Schema extends v.GenericSchema<string, string>>(schema: Schema) =>
  v.nullish(
    v.union([
      v.pipe(
        v.literal(""),
        v.transform(() => null),
      ),
      schema,
    ]),
    null,
  );

const id = (most: number, pattern: RegExp, characters: string) =>
  v.pipe(text(most), v.regex(pattern, `must be 1 to ${most} characters of ${characters}`));

const plain = /^[A-Za-z0-9._:-]+$/;
const instant = v.pipe(
  text(40),
  v.check(isInstant, "must be a time that exists, with its offset, such as 2026-03-29T09:30:00+02:00"),
);

const timer = v.object({
  timer_id: optional(text(128)),
  merchant_id: id(64, plain, "A-Z a-z 0-9 . _ : -"),
  merchant_name: text(200),
  shipment_id: id(64, plain, "A-Z a-z 0-9 . _ : -"),
  tracking_number: text(64),
  event_id: optional(id(128, plain, "A-Z a-z 0-9 . _ : -")),
  status: text(40),
  occurred_at: instant,
  recipient_id: id(64, /^[A-Za-z0-9._:@-]+$/, "A-Z a-z 0-9 . _ : @ -"),
  role: v.picklist(roles, `must be one of ${roles.join(", ")}`),
  channel: text(20),
  address: text(320),
  name: optional(text(200)),
  locale: v.pipe(
    v.nullish(v.string("must be a text"), "en"),
    v.transform((given) => given.trim() || "en"),
    v.regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, "must be a language tag such as de-AT"),
  ),
  time_zone: optional(
    v.pipe(
      text(60),
      v.regex(/^(UTC|[A-Za-z]+(\/[A-Za-z0-9_+-]+){1,2})$/, "must be a name such as Europe/Vienna"),
    ),
  ),
  template: text(60),
  due_at: instant,
  send_by: optional(instant),
});

export const columns: readonly string[] = Object.keys(timer.entries);

/** The columns that each file has; those that may be missing are empty for all. */
export const needed: readonly string[] = columns.filter(
  (name) => !["timer_id", "event_id", "name", "locale", "time_zone", "send_by"].includes(name),
);

/** A record as a timer, or why it is left out: the first field that is wrong, and never its value. */
export function parseTimer({ line, fields }: Fields): Timer | Refusal {
  const parsed = v.safeParse(timer, fields, { abortEarly: true });
  if (parsed.success) return { line, ...parsed.output };
  const [issue] = parsed.issues;
  const field = v.getDotPath(issue) ?? "line";
  return { line, timer_id: timerIdOf(fields), field, reason: reasonOf(issue) };
}

/** Of a field that need not be there, the reason is that of the form in which it would be. */
function reasonOf(issue: v.BaseIssue<unknown>): string {
  const inner = issue.type === "union" ? issue.issues?.find(({ type }) => type !== "literal") : undefined;
  const { type, received, message } = inner ?? issue;
  return type === "object" || received === "undefined" ? "is missing" : message;
}

function timerIdOf({ timer_id }: Record<string, unknown>): string | null {
  return typeof timer_id === "string" && /^[!-~]{1,128}$/.test(timer_id) ? timer_id : null;
}

export const isTimer = (given: Timer | Refusal): given is Timer => "merchant_id" in given;
