import type { Stack } from "../stack/stack.ts";

/** A link of this name in each function that has it, without the type that SST adds. */
export const linksNamed = (stack: Stack, name: string): { id: string; link: object }[] =>
  stack.functions.flatMap(({ id, links: { [name]: link } }) => {
    if (typeof link !== "object" || link === null) return [];
    const values = Object.entries(link).filter(([field]) => field !== "type");
    return [{ id, link: Object.fromEntries(values) }];
  });
