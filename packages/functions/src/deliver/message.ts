import * as v from "valibot";

/** The queue's message: a row's id and generation, no more. Anything else was not sent by a sweep. */
const schema = v.object({
  id: v.pipe(v.string(), v.regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, "is not a notification id")),
  generation: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(2 ** 31 - 1)),
});

export type NotificationMessage = v.InferOutput<typeof schema>;

/** Parses a message's body; null when it is not one of ours. */
export function parseMessage(body: string): NotificationMessage | null {
  try {
    const parsed = v.safeParse(schema, JSON.parse(body));
    return parsed.success ? parsed.output : null;
  } catch {
    return null;
  }
}
