import { HTTPException } from "hono/http-exception";
import * as v from "valibot";

/** What can be looked for, as the form's choices. */
export const ways = {
  any: "Any of these",
  shipment: "Shipment",
  recipient: "Recipient",
  address: "Address (email, telephone, webhook)",
  message: "Provider's message id",
} as const;
export type Way = keyof typeof ways;

const word = v.pipe(
  v.string(),
  v.trim(),
  v.minLength(1, "is missing"),
  v.maxLength(1000, "has 1,000 characters at most"),
  v.regex(/^\P{Cc}*$/u, "has no control characters"),
);
/** What is left out reads as what is empty: missing. */
const needed = v.optional(word, "");
const full = v.optional(v.literal("1", "is 1, or is left out"));

const answerQuery = v.object({ shipment: needed, recipient: v.optional(word), full });
const searchQuery = v.object({
  by: v.optional(v.picklist(Object.keys(ways) as Way[], `is one of ${Object.keys(ways).join(", ")}`), "any"),
  value: needed,
});

export type AnswerQuery = { shipmentId: string; recipientId: string | undefined; full: boolean };
export type SearchQuery = v.InferOutput<typeof searchQuery>;

type Query = Record<string, string>;

/** Of which shipment an answer is asked. Throws 400 with a sentence. */
export function parseAnswer(query: Query): AnswerQuery {
  const { shipment, recipient, full } = parsed(answerQuery, query);
  return { shipmentId: shipment, recipientId: recipient, full: full === "1" };
}

/** What is looked for. Throws 400 with a sentence. */
export const parseSearch = (query: Query): SearchQuery => parsed(searchQuery, query);

/** Whether addresses are shown in full. Throws 400 with a sentence. */
export const parseFull = (query: Query): boolean => parsed(v.object({ full }), query).full === "1";

/** Where an answer is, with `path` for its forms other than the page. */
export function answerPath(
  { shipmentId, recipientId, full = false }: Partial<AnswerQuery> & { shipmentId: string },
  path = "/notified",
): string {
  const query = new URLSearchParams({ shipment: shipmentId });
  if (recipientId !== undefined) query.set("recipient", recipientId);
  if (full) query.set("full", "1");
  return `${path}?${query}`;
}

function parsed<Schema extends v.GenericSchema>(schema: Schema, query: Query): v.InferOutput<Schema> {
  const { success, output, issues } = v.safeParse(schema, query, { abortEarly: true });
  if (success) return output;
  const [{ path, message }] = issues;
  throw new HTTPException(400, {
    message: `The address of this page does not say what is asked: ${path?.map(({ key }) => String(key)).join(".")} ${message}.`,
  });
}
