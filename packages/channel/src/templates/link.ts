const placeholder = "{tracking_number}";

/** Characters; browsers take more, but nobody's tracking page needs it. */
const longest = 1_000;

/**
 * The parcel's page: the merchant's address with the number in it, percent-encoded in full, so that it ends where it
 * ends in plain text too. Null where there is none, or none that may be shown: only https, no user in it, and a host
 * that the number has no part in.
 */
export function trackingLink(trackingUrl: string | null, trackingNumber: string): string | null {
  // A number of dots would be a step up in the path, encoded or not.
  if (!trackingUrl || trackingUrl.length > longest || /^\.*$/.test(trackingNumber)) return null;
  const link = address(trackingUrl.replaceAll(placeholder, encode(trackingNumber)));
  const other = address(trackingUrl.replaceAll(placeholder, "0"));
  if (!link || !other || link.origin !== other.origin) return null;
  if (link.protocol !== "https:" || link.username !== "" || link.password !== "") return null;
  return link.href.length > longest ? null : link.href.replace(/['()*!]/g, percent);
}

const address = (text: string): URL | null => (URL.canParse(text) ? new URL(text) : null);

/** RFC 3986's unreserved characters alone stay, less the dot. */
const encode = (text: string): string => encodeURIComponent(text).replace(/[!'()*.]/g, percent);

const percent = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
