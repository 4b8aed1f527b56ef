/** An email address, in the shape that SES takes. */
export const address = /^[^\s@<>"]+@[a-z0-9-]+(\.[a-z0-9-]+)+$/i;

/** An address, or `Name <address>`. */
export const mailbox =
  /^([^<>"\r\n]+ <[^\s@<>"]+@[a-z0-9-]+(\.[a-z0-9-]+)+>|[^\s@<>"]+@[a-z0-9-]+(\.[a-z0-9-]+)+)$/i;

/** The address in a mailbox. */
export const addressOf = (from: string): string => from.slice(from.indexOf("<") + 1).replace(/>$/, "");

/** The domain of a mailbox's address, in lower case. */
export const domainOf = (from: string): string => addressOf(from).replace(/^.*@/, "").toLowerCase();

/** Domains that belong to nobody (RFC 2606): SES can verify none of them. */
export const isReserved = (domain: string): boolean =>
  /(^|\.)(test|example|invalid|localhost|example\.(com|net|org))$/.test(domain);
