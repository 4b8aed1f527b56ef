import { createHash } from "node:crypto";

/**
 * SQS takes every character of XML 1.0, those beyond U+FFFF included; fauxqs looks at UTF-16 units and
 * refuses each half of an emoji. Such a body is stored in base64 behind a mark and read back.
 * One limit remains: base64 is a third longer, so that such a body may have 786,000 bytes at most.
 */
const MARK = "\uE000utf8 ";

const HAS_SURROGATE = /[\uD800-\uDFFF]/;
const ALLOWED = /^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u;

/** The body as fauxqs stores it. What SQS itself refuses stays as it is, to be refused. */
export function storedBody(body: string): string {
  const needed = body.startsWith(MARK) || (HAS_SURROGATE.test(body) && ALLOWED.test(body));
  return needed ? MARK + Buffer.from(body, "utf8").toString("base64") : body;
}

/** The body as it was sent. */
export function sentBody(stored: string): string {
  return stored.startsWith(MARK) ? Buffer.from(stored.slice(MARK.length), "base64").toString("utf8") : stored;
}

/** Whether a response, as JSON text, holds a body that must be read back. */
export const mayHoldStoredBody = (json: string) => json.includes(MARK);

/** The digest that clients compare with what they sent or received. */
export const digest = (body: string) => createHash("md5").update(body, "utf8").digest("hex");
