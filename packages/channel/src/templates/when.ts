import { RefusedError } from "../errors.ts";

/** No zone of the IANA database has more characters. */
const longestZone = 64;

/** Making one takes longer than all the rest of an email. */
const formatters = new Map<string, Intl.DateTimeFormat>();
const mostFormatters = 100;

/**
 * A time in the recipient's time zone; in UTC where it is not known, or there is none of that name. It says which.
 * @param formats BCP 47 tag that it is written by
 * @throws RefusedError `InvalidShipment` for a time that is none
 */
export function whenText(at: Date, formats: string, timeZone: string | null): string {
  if (Number.isNaN(at.getTime())) throw new RefusedError("InvalidShipment", "occurredAt is no date");
  const zone = timeZone !== null && timeZone.length <= longestZone ? timeZone : "UTC";
  const key = `${formats} ${zone}`;
  const formatter = formatters.get(key) ?? create(formats, zone);
  if (formatters.size >= mostFormatters) formatters.clear();
  formatters.set(key, formatter);
  return formatter.format(at);
}

function create(formats: string, timeZone: string): Intl.DateTimeFormat {
  const day = { day: "numeric", month: "long", year: "numeric" } as const;
  const clock = { hour: "2-digit", minute: "2-digit", timeZoneName: "short" } as const;
  try {
    return new Intl.DateTimeFormat(formats, { ...day, ...clock, timeZone });
  } catch {
    return new Intl.DateTimeFormat(formats, { ...day, ...clock, timeZone: "UTC" });
  }
}
