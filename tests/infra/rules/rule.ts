import type { Stack } from "../stack/stack.ts";

/** Something that must be true of every stage, and that neither types nor synthesis know. */
export type Rule = {
  name: string;
  /** What is wrong, a sentence each, naming the resource; empty when the rule holds. */
  check(stack: Stack): string[];
};

/** A sentence for each of those that are not as they must be. */
export const unless = <Item>(
  items: readonly Item[],
  holds: (item: Item) => boolean,
  say: (item: Item) => string,
): string[] => items.filter((item) => !holds(item)).map(say);

export const days = 24 * 60 * 60;
