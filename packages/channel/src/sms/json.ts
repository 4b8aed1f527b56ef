/** A JSON object of which nothing else is known. */
export type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A member of type string, or empty: an inherited one is none. */
export function textOf(object: Json, member: string): string {
  const value = Object.hasOwn(object, member) ? object[member] : undefined;
  return typeof value === "string" ? value : "";
}

/** A member that is an object, or an empty one. */
export function objectOf(object: Json, member: string): Json {
  const value = Object.hasOwn(object, member) ? object[member] : undefined;
  return isObject(value) ? value : {};
}

/**
 * What came by an SNS topic: SNS wraps a message into a notification, whose `Message` is its text, unless the
 * subscription asks for raw delivery. Anything else stays as it is.
 */
export function unwrapped(value: unknown): unknown {
  if (!isObject(value) || textOf(value, "Type") !== "Notification") return value;
  try {
    return JSON.parse(textOf(value, "Message"));
  } catch {
    return null;
  }
}
