// The same as owed.due_at, computed by JavaScript's own calendar.

const formats = new Map<string, Intl.DateTimeFormat>();
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const two = "2-digit";
  const format = new Intl.DateTimeFormat("sv-SE", {
    ...{ timeZone, hourCycle: "h23", year: "numeric", month: two, day: two, hour: two, minute: two },
  });
  formats.set(timeZone, format);
  return format;
}

/** What the clock of a zone shows at a time: `YYYY-MM-DD HH:MM`. */
export const showsAt = (at: number, zone: string): string => formatOf(zone).format(at);

const asUtc = (shown: string): number => Date.parse(`${shown.replace(" ", "T")}Z`);
const day = 86_400_000;

/** When a zone's clock shows a date and time: the second time, where it does so twice; that much later where it skips it. */
function timeOf(shown: string, zone: string): number {
  const wall = asUtc(shown);
  const offset = (at: number) => asUtc(showsAt(at, zone)) - Math.floor(at / 60_000) * 60_000;
  // No offset is as large as a day, and no zone changes twice in three.
  const [before, after] = [wall - offset(wall - 1.5 * day), wall - offset(wall + 1.5 * day)];
  const real = [before, after].filter((at) => showsAt(at, zone) === shown);
  return real.length > 0 ? Math.max(...real) : before;
}

/** The first time, not before `since`, at which a zone's clock shows a time of day (`HH:MM`). */
export function dueAt(since: number, time: string, zone: string): number {
  const today = asUtc(`${showsAt(since, zone).slice(0, 10)} 00:00`);
  const times = [0, 1, 2].map((days) => {
    const date = new Date(today + days * day).toISOString().slice(0, 10);
    return timeOf(`${date} ${time}`, zone);
  });
  return Math.min(...times.filter((at) => at >= since));
}
