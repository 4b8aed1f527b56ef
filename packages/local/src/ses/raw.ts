import type { Email } from "./email.ts";

/**
 * What the local stack shows of a raw email: its addresses and subject as the headers have them (encoded
 * words stay encoded) and everything after the headers as the text.
 */
export function parseRawEmail(raw: string): Email {
  const [head = "", ...rest] = raw.split(/\r?\n\r?\n/);
  const headers = parseHeaders(head);
  const addresses = (name: string) => splitAddresses(headers.get(name) ?? "");
  return {
    action: "SendRawEmail",
    source: headers.get("from") ?? "",
    to: addresses("to"),
    cc: addresses("cc"),
    bcc: addresses("bcc"),
    replyTo: addresses("reply-to"),
    subject: headers.get("subject") ?? "",
    text: rest.join("\n\n"),
    html: undefined,
    tags: parseTags(headers.get("x-ses-message-tags") ?? ""),
    configurationSet: headers.get("x-ses-configuration-set"),
  };
}

/** Names in lower case; a line that begins with white space goes on with the one before. */
function parseHeaders(head: string): ReadonlyMap<string, string> {
  const lines = head.replace(/\r?\n[ \t]+/g, " ").split(/\r?\n/);
  return new Map(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}

/** At commas outside of quotes. */
const splitAddresses = (list: string) =>
  (list.match(/(?:"(?:[^"\\]|\\.)*"|[^,"])+/g) ?? []).map((address) => address.trim()).filter(Boolean);

/** `name=value, name=value` */
function parseTags(header: string): Record<string, string> {
  const pairs = header.split(/[,;]/).map((pair) => pair.trim().split("="));
  return Object.fromEntries(pairs.flatMap(([name, value]) => (name ? [[name, value ?? ""]] : [])));
}
