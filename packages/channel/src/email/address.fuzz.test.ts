import { domainToASCII, domainToUnicode } from "node:url";
import fc from "fast-check";
import libmime from "libmime";
import { expect, test } from "vitest";
import { anyText, cost, isPlainReason, longTexts, tally } from "../../../../tests/hostile/arbitraries.ts";
import { ConfigurationError, RefusedError } from "../errors.ts";
import { cleanName, mailbox, parseAddress } from "./address.ts";
import { parseSender } from "./sender.ts";

const seen = tally("ASCII", "IDNA", "refused");

const label = fc.oneof(
  fc.constantFrom(
    "example",
    "BÜCHER",
    "bu\u0308cher",
    "faß",
    "xn--bcher-kva",
    "xn--",
    "xn--a",
    "ｅｘ",
    "例え",
    "مثال",
    "a\u200bb",
    "a\u00adb",
    "1",
    "-a",
    "",
  ),
  fc.stringMatching(/^[a-z0-9]{1,63}$/),
  anyText,
);
const nearly = fc
  .record({
    local: fc.oneof(
      { weight: 3, arbitrary: fc.stringMatching(/^[a-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}$/) },
      { weight: 1, arbitrary: anyText },
    ),
    at: fc.constantFrom("@", "@", "@", "@", "", "@@", "＠"),
    labels: fc.array(label, { minLength: 1, maxLength: 3 }),
    dot: fc.constantFrom(".", ".", ".", "。", "．", ".."),
    end: fc.constantFrom("org", "org", "org", "ORG", "рф", "", "123", "0x7f", "org\0", "org "),
  })
  .map(({ local, at, labels, dot, end }) => `${local}${at}${[...labels, end].join(dot)}`);

test("any text is one mailbox that SES takes, always the same, or refused with its fault alone", () => {
  fc.assert(
    fc.property(fc.oneof({ weight: 9, arbitrary: nearly }, { weight: 1, arbitrary: anyText }), (text) => {
      try {
        const address = parseAddress(text);
        seen.count(/^\p{ASCII}*$/u.test(text) ? "ASCII" : "IDNA");
        expect(address).toMatch(/^[\w!#$%&'*+/=?^`{|}~.-]{1,64}@[a-z0-9.-]{4,252}$/);
        expect(address.length).toBeLessThanOrEqual(254);
        expect(parseAddress(address)).toBe(address);
        // What a person would read is the same mailbox as well.
        const [local = "", host = ""] = address.split("@");
        const shown = domainToUnicode(host);
        // None: a label only looks like Punycode. It is a name in ASCII all the same, and nobody's.
        expect([host, ""]).toContain(domainToASCII(shown));
        expect(text.startsWith(`${local}@`)).toBe(true);
      } catch (error) {
        if (!(error instanceof RefusedError)) throw error;
        seen.count("refused");
        expect(error.message).toMatch(
          /^(NoAddress: no address|InvalidAddress: address (has|is) [a-zA-Z@ ]{4,40})$/,
        );
        expect(isPlainReason(error.message, 80)).toBe(true);
      }
    }),
    { numRuns: 1_500 },
  );
  expect(seen.rarest(), JSON.stringify(seen.reached)).toBeGreaterThan(15);
});

test("a display name of any kind is read by a mail program as what it is, cleaned, before one address", () => {
  fc.assert(
    fc.property(fc.array(anyText, { maxLength: 3 }), (parts) => {
      const name = parts.join(" ");
      const header = mailbox(name, "ana@example.org");
      expect(header).toMatch(/^[ -~]{15,320}$/);
      expect(header.match(/ana@example\.org/g)).toHaveLength(1);
      for (const word of header.match(/=\?\S*/g) ?? []) {
        expect(word.length, "RFC 2047, section 2").toBeLessThanOrEqual(75);
        expect(() =>
          new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(word.split("?")[3] ?? "", "base64")),
        ).not.toThrow();
      }
      const [, quoted, encoded] = /^(?:"([^"\\]*)"|(=\?.*\?=)) <ana@example\.org>$/.exec(header) ?? [];
      const shown = quoted ?? (encoded ? libmime.decodeWords(encoded) : "");
      expect(cleanName(name).startsWith(shown.replace(/…$/, "")), `${shown} of ${name}`).toBe(true);
      if (cleanName(name) !== "") expect(shown).not.toBe("");
    }),
    { numRuns: 800 },
  );
});

test("any sender is one mailbox, or a mistake in the configuration", () => {
  const senders = fc
    .tuple(
      anyText,
      fc.constantFrom(" <", "<", '" <', " ", " <<"),
      nearly,
      fc.constantFrom(">", "> ", ">, b@example.org", ""),
    )
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(senders, (from) => {
      try {
        const { address, mailbox: header } = parseSender(from);
        expect(parseAddress(address)).toBe(address);
        expect(header.endsWith(address) || header.endsWith(`<${address}>`)).toBe(true);
      } catch (error) {
        if (!(error instanceof ConfigurationError)) throw error;
        expect(error.message).not.toMatch(/\p{Cc}/u);
        expect(error.message.length).toBeLessThan(500);
      }
    }),
    { numRuns: 1_000 },
  );
});

test("what is long is refused in a time that grows with its length alone", () => {
  for (const text of longTexts()) {
    for (const address of [text, `a@${text}.org`, `${text}@example.org`, `a@${"xn--".repeat(10)}${text}`])
      expect(
        cost(() => expect(() => parseAddress(address)).toThrow(RefusedError)),
        text.slice(0, 4),
      ).toBeLessThan(200);
    for (const from of [text, `${text} <a@example.org>`, `Owed ${text}<`, `"${text}`])
      expect(
        cost(() => expect(() => parseSender(from)).toThrow(ConfigurationError)),
        text.slice(0, 4),
      ).toBeLessThan(200);
    expect(
      cost(() => mailbox(text, "ana@example.org")),
      text.slice(0, 4),
    ).toBeLessThan(200);
  }
});
