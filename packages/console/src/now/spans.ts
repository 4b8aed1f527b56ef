import { HTTPException } from "hono/http-exception";

/** How far back the plot looks, and the seconds from one point to the next: some two hundred of them. */
export const spans = {
  "15m": { name: "15 min", seconds: 15 * 60, step: 5 },
  "1h": { name: "1 h", seconds: 3600, step: 15 },
  "6h": { name: "6 h", seconds: 6 * 3600, step: 120 },
  "24h": { name: "24 h", seconds: 24 * 3600, step: 480 },
} as const;
export type Span = keyof typeof spans;

const isSpan = (given: string): given is Span => Object.hasOwn(spans, given);

/** The span of a query string; an hour where it says none. Throws a 400 for one that there is not. */
export function parseSpan(given: string | undefined): Span {
  if (given === undefined) return "1h";
  if (!isSpan(given))
    throw new HTTPException(400, {
      message: `There is no span “${given}”: take one of ${Object.keys(spans).join(", ")}.`,
    });
  return given;
}
