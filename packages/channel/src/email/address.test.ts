import fc from "fast-check";
import libmime from "libmime";
import { describe, expect, test } from "vitest";
import { RefusedError } from "../errors.ts";
import { mailbox, parseAddress } from "./address.ts";
import { parseSender } from "./sender.ts";

describe("addresses", () => {
  test.for([
    ["ana@example.org", "ana@example.org"],
    ["Ana.Lind+parcels@Example.ORG", "Ana.Lind+parcels@example.org"],
    ["o'neil_{x}@mail-1.example.co.uk", "o'neil_{x}@mail-1.example.co.uk"],
    ["ana@münchen.example", "ana@xn--mnchen-3ya.example"],
    ["ana@مثال.إختبار", "ana@xn--mgbh0fb.xn--kgbechtv"],
    [`${"a".repeat(64)}@example.org`, `${"a".repeat(64)}@example.org`],
  ] as const)("%s is sent as %s", ([address, expected]) => {
    expect(parseAddress(address)).toBe(expected);
  });

  test.for([
    ["", "NoAddress: no address"],
    [null, "NoAddress: no address"],
    [undefined, "NoAddress: no address"],
    ["secret@example.org\r\nBcc: evil@example.org", "InvalidAddress: address has a control character"],
    ["sec\u0000ret@example.org", "InvalidAddress: address has a control character"],
    ["sec\u0085ret@example.org", "InvalidAddress: address has a control character"],
    [" secret@example.org", "InvalidAddress: address has a space"],
    ["secret@example.org\u2028", "InvalidAddress: address has a space"],
    ["secret@exa\u00a0mple.org", "InvalidAddress: address has a space"],
    ["Secret<secret@example.org>", "InvalidAddress: address has an angle bracket"],
    ["secret@example.org,evil@example.org", "InvalidAddress: address has a comma"],
    ["secret.example.org", "InvalidAddress: address has not exactly one @"],
    ["secret@evil@example.org", "InvalidAddress: address has not exactly one @"],
    ["sécret@example.org", "InvalidAddress: address has a local part that is not ASCII"],
    ["secret\u202e@example.org", "InvalidAddress: address has a local part that is not ASCII"],
    ["secret\ud800@example.org", "InvalidAddress: address has a local part that is not ASCII"],
    ["@example.org", "InvalidAddress: address has a malformed local part"],
    [".secret@example.org", "InvalidAddress: address has a malformed local part"],
    ["se..cret@example.org", "InvalidAddress: address has a malformed local part"],
    ['"secret"@example.org', "InvalidAddress: address has a malformed local part"],
    ["secret;evil@example.org", "InvalidAddress: address has a malformed local part"],
    [
      "=?utf-8?q?secret=40evil.example=3e?=@example.org",
      "InvalidAddress: address has a malformed local part",
    ],
    ["secret@", "InvalidAddress: address has a malformed domain"],
    ["secret@localhost", "InvalidAddress: address has a malformed domain"],
    ["secret@127.0.0.1", "InvalidAddress: address has a malformed domain"],
    ["secret@0x7f.1", "InvalidAddress: address has a malformed domain"],
    ["secret@[::1]", "InvalidAddress: address has a malformed domain"],
    ["secret@ex%61mple.org", "InvalidAddress: address has a malformed domain"],
    ["secret@-example.org", "InvalidAddress: address has a malformed domain"],
    ["secret@example.org.", "InvalidAddress: address has a malformed domain"],
    ["secret@example..org", "InvalidAddress: address has a malformed domain"],
    ["secret@exa\ud800mple.org", "InvalidAddress: address has a malformed domain"],
    ["secret@exa\u202emple.org", "InvalidAddress: address has a malformed domain"],
    [`${"a".repeat(65)}@example.org`, "InvalidAddress: address is too long"],
    [`secret@${"a.".repeat(123)}org`, "InvalidAddress: address is too long"],
    [`secret@${"é.".repeat(40)}org`, "InvalidAddress: address is too long"],
  ] as const)("%j is refused: %s", ([address, reason]) => {
    const parse = () => parseAddress(address);
    expect(parse).toThrow(RefusedError);
    expect(parse).toThrow(new RefusedError(...(reason.split(": ") as [string, string])));
    expect(reason).not.toContain("secret");
  });

  test("any string is an ASCII address of one mailbox, or refused", () => {
    const part = fc.string({
      unit: fc.constantFrom("a", "@", ".", "-", "é", " ", "\r\n", "<", ",", "=?", "\ud800", "\u202e"),
    });
    fc.assert(
      fc.property(fc.oneof(part, fc.emailAddress(), fc.string({ unit: "binary" })), (address) => {
        try {
          expect(parseAddress(address)).toMatch(/^[\x21-\x7e]+@[a-z0-9.-]+$/);
          expect(parseAddress(address)).not.toMatch(/[<>,;:"\\()[\]]|@.*@/);
        } catch (error) {
          if (!(error instanceof RefusedError)) throw error;
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("mailboxes", () => {
  test.for([
    [null, "ana@example.org"],
    [" \r\n ", "ana@example.org"],
    ["Ana Lind", '"Ana Lind" <ana@example.org>'],
    ["O'Neil, J. (Jim)", `"O'Neil, J. (Jim)" <ana@example.org>`],
    ["Zoë", "=?UTF-8?B?Wm/Dqw==?= <ana@example.org>"],
    ['Quote " and \\ slash', "=?UTF-8?B?UXVvdGUgIiBhbmQgXCBzbGFzaA==?= <ana@example.org>"],
  ] as const)("%j is %s", ([name, expected]) => {
    expect(mailbox(name, "ana@example.org")).toBe(expected);
  });

  test("a name that is an encoded word itself is shown as it is, not decoded", () => {
    const name = "=?utf-8?Q?x=0D=0ABcc:_evil@example.org?=";
    const encoded = mailbox(name, "ana@example.org");
    expect(encoded).not.toContain("utf-8?Q");
    expect(libmime.decodeWords(encoded)).toBe(`${name} <ana@example.org>`);
  });

  test("any name gives one header line with one address, within SES's 320 characters", () => {
    const address = `${"a".repeat(64)}@${"b.".repeat(93)}org`;
    expect(address.length).toBe(254);
    const name = fc.oneof(
      fc.string({ unit: "binary", maxLength: 90 }),
      fc.string({ unit: "grapheme", maxLength: 90 }),
    );
    fc.assert(
      fc.property(name, fc.constantFrom("ana@example.org", address), (value, to) => {
        const header = mailbox(value, to);
        const word = String.raw`=\?UTF-8\?B\?[A-Za-z0-9+/]+=*\?=`;
        const phrase = `(?:"[A-Za-z0-9 .,'&()_-]+"|${word}(?: ${word})*)`;
        expect(header.endsWith(to) || header.endsWith(`<${to}>`)).toBe(true);
        expect(header).toMatch(new RegExp(`^(?:[^ <>"]+|${phrase} <[^ <>"]+>)$`));
        expect(header.length).toBeLessThanOrEqual(320);
        expect(libmime.decodeWords(header)).not.toMatch(/[\p{Cc}\p{Cs}\u202A-\u202E\u2066-\u2069\uFFFD]/u);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("our own sender", () => {
  test.for([
    ["notify@owed.example", { address: "notify@owed.example", mailbox: "notify@owed.example" }],
    [
      "Owed <notify@owed.example>",
      { address: "notify@owed.example", mailbox: '"Owed" <notify@owed.example>' },
    ],
    [
      '"Owed, Inc." <notify@owed.example>',
      { address: "notify@owed.example", mailbox: '"Owed, Inc." <notify@owed.example>' },
    ],
  ] as const)("%s", ([from, expected]) => {
    expect(parseSender(from)).toEqual(expected);
  });

  test.for([
    "",
    "Owed",
    "Owed <notify>",
    "a@owed.example, b@owed.example",
    "Owed <a@owed.example> <b@owed.example>",
  ])("%j is a mistake in the configuration", (from) => {
    expect(() => parseSender(from)).toThrow(/sender .* is unusable .* Set it to/);
  });
});
