import { BlockList } from "node:net";
import fc from "fast-check";
import { expect, test } from "vitest";
import { tally } from "../../../../tests/hostile/arbitraries.ts";
import { parseAddress } from "./address.ts";
import { networkOf } from "./network.ts";

const internet = networkOf([]);

/** IANA's special-purpose registry of IPv4, by Node's own arithmetic. */
const special = new BlockList();
for (const network of [
  ...[
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
  ],
  ...[
    "192.0.2.0/24",
    "192.31.196.0/24",
    "192.52.193.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "192.175.48.0/24",
  ],
  ...["198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"],
]) {
  const [base = "", bits] = network.split("/");
  special.addSubnet(base, Number(bits));
}

const spelledPart = (part: number) =>
  fc.constantFrom(
    `${part}`,
    `0x${part.toString(16)}`,
    `0X${part.toString(16)}`,
    part === 0 ? "0" : `0${part.toString(8)}`,
  );

/** An IPv4 address in one of the spellings that have been taken for names: of one to four parts, in three bases. */
const spelled = (number: number): fc.Arbitrary<string> =>
  fc.integer({ min: 1, max: 4 }).chain((parts) => {
    const bytes = [24, 16, 8, 0].map((shift) => (number >>> shift) & 0xff);
    const last = bytes.slice(parts - 1).reduce((sum, byte) => sum * 256 + byte, 0);
    return fc.tuple(...[...bytes.slice(0, parts - 1), last].map(spelledPart)).map((all) => all.join("."));
  });

const near = fc.oneof(
  fc.integer({ min: 0, max: 0xffffffff }),
  // What begins as a special network does.
  fc
    .tuple(
      fc.constantFrom(0, 10, 100, 127, 169, 172, 192, 198, 203, 224),
      fc.constantFrom(0, 16, 31, 64, 88, 168, 254),
      fc.nat(0xffff),
    )
    .map(([first, second, rest]) => first * 2 ** 24 + second * 2 ** 16 + rest),
);

test("an IPv4 address may be called or not, however it is spelled", () => {
  const seen = tally("public", "special");
  fc.assert(
    fc.property(
      near.chain((number) => fc.tuple(fc.constant(number), spelled(number))),
      ([number, written]) => {
        const dotted = [24, 16, 8, 0].map((shift) => (number >>> shift) & 0xff).join(".");
        const { hostname } = parseAddress(`https://${written}/`);
        expect(hostname).toBe(dotted);
        expect(internet.admits(hostname), dotted).toBe(!special.check(dotted));
        seen.count(special.check(dotted) ? "special" : "public");
      },
    ),
    { numRuns: 2_000 },
  );
  expect(seen.rarest(), JSON.stringify(seen.reached)).toBeGreaterThan(200);
});

test("an IPv6 address that holds an IPv4 one, or is outside what is public, may not be called", () => {
  const hex = (number: number) => `${(number >>> 16).toString(16)}:${(number & 0xffff).toString(16)}`;
  const holder = fc.constantFrom(
    (v4: string) => `::${v4}`,
    (v4: string) => `::ffff:${v4}`,
    (v4: string) => `::ffff:0:${v4}`,
    (v4: string) => `64:ff9b::${v4}`,
    (v4: string) => `64:ff9b:1::${v4}`,
    (v4: string) => `2002:${v4}::1`,
    (v4: string) => `2001:0:${v4}::1`,
    (v4: string) => `fd00::${v4}`,
    (v4: string) => `fe80::${v4}`,
  );
  fc.assert(
    fc.property(holder, fc.integer({ min: 0, max: 0xffffffff }), (hold, v4) => {
      expect(internet.admits(parseAddress(`https://[${hold(hex(v4))}]/`).hostname.slice(1, -1))).toBe(false);
    }),
    { numRuns: 1_000 },
  );
});
