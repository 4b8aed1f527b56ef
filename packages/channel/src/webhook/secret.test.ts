import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { ConfigurationError } from "../errors.ts";
import { parseRootKeys, secretsOf } from "./secret.ts";
import { aKey } from "./testing/inbox.ts";

test("a merchant's secret is HKDF-SHA-256 of the root key (RFC 5869), 32 bytes", () => {
  const hmac = (key: Buffer, ...parts: (string | Buffer)[]) =>
    createHmac("sha256", key)
      .update(Buffer.concat(parts.map((part) => Buffer.from(part))))
      .digest();
  const extracted = hmac(Buffer.alloc(32), Buffer.alloc(32, 1));
  const expanded = hmac(extracted, "mer_7", Buffer.of(1));
  expect(secretsOf(aKey(1), "mer_7")).toEqual([`whsec_${expanded.toString("base64")}`]);
});

test("each merchant has its own, the same each time, from each root key in their order", () => {
  const [current, earlier] = secretsOf(`${aKey(2)} ${aKey(1)}`, "mer_7");
  expect([current]).toEqual(secretsOf(aKey(2), "mer_7"));
  expect([earlier]).toEqual(secretsOf(aKey(1), "mer_7"));
  expect(new Set([current, earlier, ...secretsOf(aKey(1), "mer_8")]).size).toBe(3);
});

test("keys may be separated by any space, and have 24 to 64 bytes", () => {
  const keys = [24, 32, 64].map((bytes) => `whsec_${Buffer.alloc(bytes, 7).toString("base64")}`);
  expect(parseRootKeys(`\n ${keys.join("  \t")}\n`).map((key) => key.length)).toEqual([24, 32, 64]);
});

const secret = Buffer.alloc(32, "secret").toString("base64");
test.for([
  ["", "there is none"],
  [" \n", "there is none"],
  [secret, "key 1 does not begin with whsec_"],
  [`${aKey(1)} ${secret}`, "key 2 does not begin with whsec_"],
  [`whsec_${secret.slice(0, -1)}`, "key 1 is not base64"],
  [`whsec_${secret.slice(0, -4)}*c3V=`, "key 1 is not base64"],
  [`whsec_${Buffer.alloc(33, 255).toString("base64url")}`, "key 1 is not base64"],
  ["whsec_", "key 1 has 0 bytes, not 24 to 64"],
  [`whsec_${Buffer.alloc(23, "secret").toString("base64")}`, "key 1 has 23 bytes, not 24 to 64"],
  [`${aKey(1)} whsec_${Buffer.alloc(65, "secret").toString("base64")}`, "key 2 has 65 bytes, not 24 to 64"],
] as const)("%j is a mistake in the configuration: %s", ([value, what]) => {
  const parse = () => secretsOf(value, "mer_7");
  expect(parse).toThrow(ConfigurationError);
  expect(parse).toThrow(`The webhooks' root keys are unusable: ${what}. Set one or more`);
  expect(parse).not.toThrow(/c2VjcmV0|AQEB/);
});
