/**
 * An address as it may be shown to whoever looks over a shoulder: enough to tell two apart. `b***@example.com`,
 * `***67` of a telephone number, the host of a webhook.
 */
export function mask(address: string): string {
  const at = address.lastIndexOf("@");
  if (/^https?:\/\//i.test(address)) return `${URL.parse(address)?.origin ?? "***"}/***`;
  if (at >= 0) return `${firstOf(address.slice(0, at))}***${address.slice(at)}`;
  return `***${address.length > 4 ? address.slice(-2) : ""}`;
}

/** The first character, unless it is all there is. */
const firstOf = (local: string): string => {
  const [first = "", ...more] = local;
  return more.length > 0 ? first : "";
};

/** A row with its address masked, unless `full` was asked for. */
export const masked = <Row extends { sentTo: string | null }>(row: Row, full: boolean): Row =>
  full || row.sentTo === null ? row : { ...row, sentTo: mask(row.sentTo) };
