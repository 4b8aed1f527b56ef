/** An event pattern: each of its fields is another pattern, or the list of the values that it takes. */
export type Pattern = { [field: string]: readonly unknown[] | Pattern };

/** Does EventBridge take this event? Values are compared whole (EventBridge user guide, "Event patterns"). */
export const matches = (pattern: Pattern, event: unknown): boolean =>
  Object.entries(pattern).every(([field, wanted]) => {
    const found = fieldOf(event, field);
    return isList(wanted) ? [found].flat().some((value) => wanted.includes(value)) : matches(wanted, found);
  });

const isList = (wanted: readonly unknown[] | Pattern): wanted is readonly unknown[] => Array.isArray(wanted);

const fieldOf = (event: unknown, field: string): unknown =>
  typeof event === "object" && event !== null ? Reflect.get(event, field) : undefined;
