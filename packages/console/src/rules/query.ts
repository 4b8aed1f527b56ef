import { isInstant } from "@owed/functions/instant";
import { HTTPException } from "hono/http-exception";
import * as v from "valibot";

/** A value of the address: no control characters, which neither a person nor the ledger takes. */
export const word = (name: string, most = 200) =>
  v.pipe(
    v.string(),
    v.trim(),
    v.maxLength(most, `${name} has ${most} characters at most.`),
    v.check((given) => !/\p{Cc}/u.test(given), `${name} has no control characters.`),
  );

export const parsed = <Schema extends v.GenericSchema<unknown, unknown>>(
  schema: Schema,
  given: Record<string, string>,
): v.InferOutput<Schema> => {
  const { success, output, issues } = v.safeParse(schema, given);
  if (!success) throw new HTTPException(400, { message: issues[0].message });
  return output;
};

/** Empty: of all. */
export const listQuery = v.object({
  merchant: v.optional(word("merchant"), ""),
  status: v.optional(word("status"), ""),
});
export type ListQuery = v.InferOutput<typeof listQuery>;

/** What names a rule; its versions are counted within it. An empty merchant: the default one. */
export const ruleQuery = v.object(
  {
    merchant: v.optional(word("merchant"), ""),
    status: word("status"),
    role: word("role"),
    channel: word("channel"),
    template: word("template"),
  },
  "A rule is named by its status, role, channel and template.",
);
export type RuleQuery = v.InferOutput<typeof ruleQuery>;

/** What is tried out; all of it empty: nothing was asked yet. `at` empty: now. */
export const tryQuery = v.object({
  shipment: v.optional(word("shipment"), ""),
  status: v.optional(word("status"), ""),
  at: v.optional(
    v.pipe(
      word("at"),
      v.check(
        (given) => given === "" || isInstant(given),
        "at must be a time that exists, with its offset, such as 2026-03-29T09:30:00+02:00.",
      ),
    ),
    "",
  ),
});
export type TryQuery = v.InferOutput<typeof tryQuery>;

/** An address with a query: what is empty is left out. */
export function addressOf(path: string, query: Record<string, string>): string {
  const given = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ""));
  return given.size === 0 ? path : `${path}?${given}`;
}
