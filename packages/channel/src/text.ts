/**
 * What may stand in no single line of text: control characters (CR and LF with them), line and paragraph
 * separators, lone surrogates, noncharacters, interlinear, byte-order and replacement marks, and the bidirectional
 * controls that can make a line read backwards. Joiners stay: scripts and emoji need them.
 */
const unprintable =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}\u202A-\u202E\u2066-\u2069\uFEFF\uFFF9-\uFFFD]/gu;

/** Longer input is cut before it is cleaned, so that a value of a megabyte costs no more than others. */
const longestInput = 4_096;

/**
 * Makes one safe line of any string: unprintable characters become spaces, spaces are collapsed, and the
 * result has at most `max` code points (a cut one ends with `…`). May be empty.
 */
export function line(value: string, max: number): string {
  const cleaned = value.slice(0, longestInput).replace(unprintable, " ").replace(/\s+/gu, " ").trim();
  const points = [...cleaned];
  return points.length <= max
    ? cleaned
    : `${points
        .slice(0, max - 1)
        .join("")
        .trimEnd()}…`;
}
