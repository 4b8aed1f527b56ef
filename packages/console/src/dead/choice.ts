import { HTTPException } from "hono/http-exception";
import * as v from "valibot";
import { all, type Form, one } from "../guard/act.ts";

/** Which dead letters: by channel, the start of the reason, or shipment; none of them: all. */
export type Filter = { channel?: string; reason?: string; shipment?: string };

/** What a redrive is asked for: some by their ids, or whatever fits. */
export type Choice = { ids: string[] } | { filter: Filter };

const named = ["channel", "reason", "shipment"] as const;

/** Ids at most: the page shows fewer. */
const most = 1000;

const text = (name: string) =>
  v.optional(
    v.pipe(
      v.string(),
      v.maxLength(2000, `The ${name} has more than 2,000 characters: give its beginning.`),
      v.check((given) => !given.includes("\0"), `The ${name} has a character that no text may have.`),
      v.transform((given) => (given.trim() === "" ? undefined : given)),
    ),
  );

const filter = v.object({ channel: text("channel"), reason: text("reason"), shipment: text("shipment") });

const notificationId = v.pipe(
  v.string(),
  v.trim(),
  v.toLowerCase(),
  v.regex(
    /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
    ({ input }) => `“${input}” is no notification's id: it looks like 0199d0c5-7a3e-7c1f-9b2e-3f6a51c20001.`,
  ),
);

const chosenIds = v.pipe(
  v.array(notificationId),
  v.maxLength(most, `Choose ${most} at most, or the whole group.`),
  v.transform((ids) => [...new Set(ids)]),
);

/** What a page or a form was asked for. A wrong one is told as a 400, in its first sentence. */
export function parse<Schema extends v.GenericSchema>(schema: Schema, given: unknown): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, given);
  if (parsed.success) return parsed.output;
  throw new HTTPException(400, { message: parsed.issues[0].message });
}

export const parseFilter = (query: Record<string, unknown>): Filter => {
  const parsed = parse(filter, query);
  const filled: Filter = {};
  for (const name of named) if (parsed[name] !== undefined) filled[name] = parsed[name];
  return filled;
};

/** The ids that a form names; a 400 when there is none. */
export function parseIds(form: Form): string[] {
  const ids = parse(chosenIds, all(form, "id"));
  if (ids.length === 0)
    throw new HTTPException(400, { message: "Nothing was chosen: tick one or several, then try again." });
  return ids;
}

/** Ids, or a filter; all of them only where the form says so. */
export function parseChoice(form: Form): Choice {
  if (all(form, "id").length > 0) return { ids: parseIds(form) };
  const given = parseFilter(Object.fromEntries(named.map((name) => [name, one(form, name)])));
  if (!isEmpty(given)) return { filter: given };
  if (one(form, "all") === "yes") return { filter: {} };
  throw new HTTPException(400, { message: "Nothing was chosen: tick one or several, then try again." });
}

export const isEmpty = (filter: Filter): boolean => Object.keys(filter).length === 0;

/** The query of a page that shows what fits; empty for all. */
export const queryOf = (filter: Filter): string => {
  const query = new URLSearchParams(Object.entries(filter)).toString();
  return query === "" ? "" : `?${query}`;
};

/** What fits, in words: `dead by email, whose reason begins with “lost”`. */
export function wordsOf({ channel, reason, shipment }: Filter): string {
  return [
    channel && `by ${channel}`,
    shipment && `of shipment ${shipment}`,
    reason && `whose reason begins with “${reason}”`,
  ]
    .filter(Boolean)
    .join(", ");
}
