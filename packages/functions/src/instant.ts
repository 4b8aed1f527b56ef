/** RFC 3339, section 5.6; of the offsets those that PostgreSQL takes (its limit is 15:59, the world's 14:00). */
const rfc3339 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d{1,9})?([Zz]|[+-](0\d|1[0-5]):[0-5]\d)$/;

/** Whether a text is a date that exists since 1970, a time of day, and an offset. Leap seconds are refused. */
export function isInstant(text: string): boolean {
  const [, year, month, day, hour, minute, second] = rfc3339.exec(text)?.map(Number) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  if (hour === undefined || minute === undefined || second === undefined) return false;
  const date = new Date(Date.UTC(2000, month - 1, day));
  date.setUTCFullYear(year, month - 1, day);
  const exists = year >= 1970 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return exists && hour < 24 && minute < 60 && second < 60;
}
