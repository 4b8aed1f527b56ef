import { X509Certificate } from "node:crypto";
import { expect, test } from "vitest";
import { createAuthority } from "./certificates.ts";

test("a certificate is for its names and addresses, and its authority's, valid for a year", () => {
  const authority = new X509Certificate(createAuthority("An authority").certificate);
  expect(authority.ca).toBe(true);
  const { certificate, issuer } = issued("An authority");
  expect(certificate.verify(issuer.publicKey)).toBe(true);
  expect(certificate.checkIssued(issuer)).toBe(true);
  expect([certificate.checkHost("localhost"), certificate.checkIP("127.0.0.1")]).toEqual([
    "localhost",
    "127.0.0.1",
  ]);
  expect([certificate.checkHost("shop.example"), certificate.checkIP("127.0.0.2")]).toEqual([
    undefined,
    undefined,
  ]);
  const days = (certificate.validToDate.getTime() - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(360);
});

test("its PEM is well-formed, whatever its length", () => {
  const lengths = new Set<number>();
  for (let length = 1; length <= 64; length += 1)
    lengths.add(issued("x".repeat(length)).certificate.toString().length);
  expect(lengths.size).toBeGreaterThan(20);
});

function issued(name: string) {
  const authority = createAuthority(name);
  const { certificate } = authority.issue("localhost", "127.0.0.1");
  return {
    certificate: new X509Certificate(certificate),
    issuer: new X509Certificate(authority.certificate),
  };
}
