import { randomUUID } from "node:crypto";
import type { SesError } from "./errors.ts";

const NAMESPACE = "http://ses.amazonaws.com/doc/2010-12-01/";

/** The answer of the query protocol to `action`. */
export function resultXml(action: string, members: Readonly<Record<string, string | number>>): string {
  const result = Object.entries(members).map(([name, value]) => element(name, escapeXml(String(value))));
  return (
    `<${action}Response xmlns="${NAMESPACE}">` +
    element(`${action}Result`, result.join("")) +
    element("ResponseMetadata", element("RequestId", randomUUID())) +
    `</${action}Response>`
  );
}

/** The answer of the query protocol for an error. */
export function errorXml({ code, message, status }: Pick<SesError, "code" | "message" | "status">): string {
  const type = status < 500 ? "Sender" : "Receiver";
  const error =
    element("Type", type) + element("Code", escapeXml(code)) + element("Message", escapeXml(message));
  const parts = element("Error", error) + element("RequestId", randomUUID());
  return `<ErrorResponse xmlns="${NAMESPACE}">${parts}</ErrorResponse>`;
}

const element = (name: string, content: string) => `<${name}>${content}</${name}>`;

/** Characters that XML 1.0 has no way to write become `?`. */
const escapeXml = (text: string) =>
  text
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "?")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
