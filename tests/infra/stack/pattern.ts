import { isDeepStrictEqual } from "node:util";

/** An event pattern: each of its fields is another pattern, or the list of the values that it takes. */
export type Pattern = { [field: string]: readonly unknown[] | Pattern };

/**
 * Does EventBridge take this event? Values are compared whole, or looked for with `{ exists: true }` (EventBridge user
 * guide, "Event patterns", "Comparison operators").
 */
export const matches = (pattern: Pattern, event: unknown): boolean =>
  Object.entries(pattern).every(([field, wanted]) => {
    const found = fieldOf(event, field);
    if (!isList(wanted)) return matches(wanted, found);
    return [found].flat().some((value) => wanted.some((one) => isThere(one, value) || one === value));
  });

const isList = (wanted: readonly unknown[] | Pattern): wanted is readonly unknown[] => Array.isArray(wanted);

/** Only a leaf of the event can be looked for. */
const isThere = (wanted: unknown, value: unknown): boolean =>
  isDeepStrictEqual(wanted, { exists: true }) && value !== undefined && typeof value !== "object";

const fieldOf = (event: unknown, field: string): unknown =>
  typeof event === "object" && event !== null ? Reflect.get(event, field) : undefined;
