import fc from "fast-check";
import { expect, test } from "vitest";
import { anyText } from "../../../../tests/hostile/arbitraries.ts";
import { RefusedError } from "../errors.ts";
import { parseAddress } from "./address.ts";

test.for([
  ["https://shop.example/inbox?a=1", "https://shop.example/inbox?a=1"],
  ["HTTPS://Shop.Example", "https://shop.example/"],
  ["https://shop.example:443/", "https://shop.example/"],
  ["https://shop.example:8443/", "https://shop.example:8443/"],
  ["https://shop.example:1024/", "https://shop.example:1024/"],
  ["https://münchen.example/", "https://xn--mnchen-3ya.example/"],
  ["https://93.184.216.34/", "https://93.184.216.34/"],
  ["https://[2606:4700::1111]/", "https://[2606:4700::1111]/"],
  [`https://shop.example/${"a".repeat(299)}`, `https://shop.example/${"a".repeat(299)}`],
] as const)("%s is called as %s", ([address, expected]) => {
  expect(parseAddress(address).href).toBe(expected);
});

test.for([
  ["", "NoAddress: no address"],
  [null, "NoAddress: no address"],
  [undefined, "NoAddress: no address"],
  [`https://secret.example/${"a".repeat(298)}`, "InvalidAddress: address is too long"],
  ["http://secret.example/", "InvalidAddress: address does not begin with https://"],
  ["ftp://secret.example/", "InvalidAddress: address does not begin with https://"],
  ["//secret.example/", "InvalidAddress: address does not begin with https://"],
  ["https:secret.example", "InvalidAddress: address does not begin with https://"],
  ["https:/secret.example", "InvalidAddress: address does not begin with https://"],
  ["javascript:alert(1)", "InvalidAddress: address does not begin with https://"],
  ["https:\\\\secret.example", "InvalidAddress: address has a backslash"],
  ["https://secret.example\\@evil.example/", "InvalidAddress: address has a backslash"],
  ["https://secret.example/\r\nHost: evil", "InvalidAddress: address has a space or a control character"],
  ["ht\ttps://secret.example/", "InvalidAddress: address has a space or a control character"],
  [" https://secret.example/", "InvalidAddress: address has a space or a control character"],
  ["https://secret.example/\0", "InvalidAddress: address has a space or a control character"],
  ["https://", "InvalidAddress: address is a malformed URL"],
  ["https://secret .example", "InvalidAddress: address has a space or a control character"],
  ["https://sec%00ret.example/", "InvalidAddress: address is a malformed URL"],
  ["https://[fe80::1%25eth0]/", "InvalidAddress: address is a malformed URL"],
  ["https://[::1/", "InvalidAddress: address is a malformed URL"],
  ["https://1.2.3.4.5/", "InvalidAddress: address is a malformed URL"],
  ["https://256.1.1.1/", "InvalidAddress: address is a malformed URL"],
  ["https://secret.example:65536/", "InvalidAddress: address is a malformed URL"],
  ["https://ana@secret.example/", "InvalidAddress: address has a user name or password"],
  ["https://:secret@secret.example/", "InvalidAddress: address has a user name or password"],
  ["https://public.example@secret.example/", "InvalidAddress: address has a user name or password"],
  ["https://secret.example:22/", "InvalidAddress: address has a port below 1024 that is not 443"],
  ["https://secret.example:25/", "InvalidAddress: address has a port below 1024 that is not 443"],
  ["https://secret.example:80/", "InvalidAddress: address has a port below 1024 that is not 443"],
  ["https://secret.example:0/", "InvalidAddress: address has a port below 1024 that is not 443"],
  ["https://secret.example:1023/", "InvalidAddress: address has a port below 1024 that is not 443"],
] as const)("%j is refused: %s", ([address, reason]) => {
  const parse = () => parseAddress(address);
  expect(parse).toThrow(RefusedError);
  expect(parse).toThrow(new RefusedError(...(reason.split(": ") as [string, string])));
});

test("any text is the address of a host by https, or refused", () => {
  const part = fc.constantFrom(
    "https://",
    "shop.example",
    "@",
    ":",
    "8443",
    "/",
    "\\",
    "[::1]",
    "#",
    "?",
    "%2f",
    "ü",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        anyText,
        fc.array(part).map((parts) => `https://${parts.join("")}`),
      ),
      (address) => {
        try {
          const url = parseAddress(address);
          expect(url.protocol).toBe("https:");
          expect(url.username + url.password).toBe("");
          expect(url.hostname).toMatch(/^[a-z0-9._~!$&'()*+,;=-]+$|^\[[0-9a-f:]+\]$/);
        } catch (error) {
          if (!(error instanceof RefusedError)) throw error;
        }
      },
    ),
    { numRuns: 1_000 },
  );
});
