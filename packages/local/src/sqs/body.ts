import { createHash } from "node:crypto";

/**
 * SQS takes every character of XML 1.0, those beyond U+FFFF included; fauxqs looks at UTF-16 units and refuses
 * each half of an emoji. Such a body is stored behind a mark with one character for each byte of its UTF-8, and
 * read back. One limit remains: its characters beyond ASCII then count twice towards the 1 MiB of a message.
 */
const MARK = "\uE000utf8 ";

const HAS_SURROGATE = /[\uD800-\uDFFF]/;
const ALLOWED = /^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u;

/** The body as fauxqs stores it. What SQS itself refuses stays as it is, to be refused. */
export function storedBody(body: string): string {
  const needed = body.startsWith(MARK) || (HAS_SURROGATE.test(body) && ALLOWED.test(body));
  return needed ? MARK + Buffer.from(body, "utf8").toString("latin1") : body;
}

/** The body as it was sent. */
export function sentBody(stored: string): string {
  return stored.startsWith(MARK) ? Buffer.from(stored.slice(MARK.length), "latin1").toString("utf8") : stored;
}

/** Whether a response, as JSON text, holds a body that must be read back. */
export const mayHoldStoredBody = (json: string) => json.includes(MARK);

/** The digest that clients compare with what they sent or received. */
export const digest = (body: string) => createHash("md5").update(body, "utf8").digest("hex");
