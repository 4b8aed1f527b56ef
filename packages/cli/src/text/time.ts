/** RFC 3339 in UTC, with milliseconds; a dash where there is none. */
export const time = (at: Date | null): string => at?.toISOString() ?? "-";

const units = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
  ["s", 1],
] as const;

/** Seconds as people say them, in the two largest units: `2 h 5 min`. */
export function duration(seconds: number): string {
  let rest = Math.round(seconds);
  const parts: string[] = [];
  for (const [unit, size] of units) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count} ${unit}`);
    // What follows an empty unit is too small to say: 1 h, not 1 h 4 s.
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join(" ") || "0 s";
}
