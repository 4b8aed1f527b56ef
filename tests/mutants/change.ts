/** One mutation of a text: what stands from `start` to `end` becomes `by`. */
export type Change = {
  /** `guard`: something is let through, or nothing is; `detail`: what is written is another thing. */
  kind: "guard" | "detail";
  /** Where, in the field's words: the CTE or function, and the clause. */
  place: string;
  /** What is done there. */
  what: string;
  start: number;
  end: number;
  by: string;
};

export const apply = (text: string, { start, end, by }: Change): string =>
  text.slice(0, start) + by + text.slice(end);

/** A piece of the text as an id quotes it: on one line, and short. */
export function quote(text: string): string {
  const line = text
    .replaceAll(/--[^\n]*/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  return `"${line.length > 72 ? `${line.slice(0, 71)}…` : line}"`;
}
