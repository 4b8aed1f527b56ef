/** No provider means a longer wait; a larger number is a mistake. */
const maxSeconds = 24 * 60 * 60;

/**
 * RFC 9110 section 10.2.3: whole seconds, or an HTTP date, which is measured by the answer's own `Date`
 * where it has one, since the two clocks may differ.
 * @returns seconds from now (0 to 86,400), or null where the header is missing or malformed.
 */
export function retryAfterSeconds(headers: Record<string, string>, now = Date.now()): number | null {
  const value = headers["retry-after"]?.trim() ?? "";
  if (/^\d+$/.test(value)) return Math.min(Number(value), maxSeconds);
  // Date.parse makes dates out of nearly anything ("7.5"); an HTTP date begins with its weekday.
  const date = /^[A-Z][a-z]+,? /.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(date)) return null;
  const answered = Date.parse(headers.date ?? "");
  const seconds = Math.ceil((date - (Number.isNaN(answered) ? now : answered)) / 1000);
  return Math.min(Math.max(seconds, 0), maxSeconds);
}
