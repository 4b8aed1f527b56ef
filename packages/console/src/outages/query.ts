import { isInstant } from "@owed/functions/instant";
import { HTTPException } from "hono/http-exception";
import * as v from "valibot";

/** What a browser's field for a time holds: no offset, and UTC here, as all times of these pages. */
const local = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?$/;

/** A time that can be written in UTC as well: RFC 3339 has years of four digits. */
const isTold = (given: string): boolean => isInstant(given) && new Date(given).getUTCFullYear() < 9999;

const instant = (name: string) =>
  v.pipe(
    v.string(),
    v.trim(),
    v.transform((given) => (local.test(given) ? `${given}${given.length === 16 ? ":00" : ""}Z` : given)),
    v.check(
      (given) => given === "" || isTold(given),
      `${name} must be a time that exists, such as 2026-03-29T09:30:00Z.`,
    ),
    v.transform((given) => (given === "" ? null : new Date(given).toISOString())),
  );

const merchant = v.pipe(
  v.string(),
  v.trim(),
  v.maxLength(200, "merchant must be a merchant's id: no longer than 200 characters."),
  v.check((given) => !/\p{Cc}/u.test(given), "merchant must be a merchant's id: no control characters."),
  v.transform((given) => (given === "" ? null : given)),
);

const schema = v.pipe(
  v.object({
    since: v.optional(instant("since"), ""),
    until: v.optional(instant("until"), ""),
    merchant: v.optional(merchant, ""),
  }),
  v.check(
    ({ since, until }) => since === null || until === null || since < until,
    "since must be before until.",
  ),
);

/** Which outages are asked for; a time is RFC 3339 in UTC, null: not given. */
export type Query = v.InferOutput<typeof schema>;

/** @throws HTTPException 400 with a sentence on what is wrong in it */
export function parseQuery(given: Record<string, string>): Query {
  const { success, output, issues } = v.safeParse(schema, given);
  if (!success) throw new HTTPException(400, { message: issues[0].message });
  return output;
}

const formats = ["html", "json", "svg"] as const;
export type Format = (typeof formats)[number];

/** One outage's address: when it began, and as what file it is wanted. Null for what names none. */
export function parseName(name: string): { from: Date; format: Format | null } | null {
  const format = formats.find((one) => name.endsWith(`.${one}`)) ?? null;
  const from = format ? name.slice(0, -format.length - 1) : name;
  return isTold(from) ? { from: new Date(from), format } : null;
}

/** Where one outage's page is, of one merchant's notifications or of all. */
export const addressOf = (from: Date, merchant: string | null, format?: Format): string =>
  `/outages/${from.toISOString()}${format ? `.${format}` : ""}${merchant === null ? "" : `?merchant=${encodeURIComponent(merchant)}`}`;
