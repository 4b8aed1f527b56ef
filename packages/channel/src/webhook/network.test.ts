import { describe, expect, test } from "vitest";
import { ConfigurationError } from "../errors.ts";
import { parseAddress } from "./address.ts";
import { networkOf } from "./network.ts";

const internet = networkOf([]);
/** As a URL's host, without the brackets of IPv6. */
const hostOf = (written: string) => parseAddress(`https://${written}/`).hostname.replace(/^\[|\]$/g, "");

describe("what may not be called, in every spelling", () => {
  test.for([
    ...["127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0x7f.1", "017700000001"],
    ...[
      "0177.0.0.1",
      "0177.1",
      "127.0.0.01",
      "127.0.0.1.",
      "%31%32%37.0.0.1",
      "１２７。０。０。１",
      "①②⑦.0.0.①",
      "127.255.255.254",
    ],
    ...["0.0.0.0", "0", "0x0", "0.1.2.3"],
    ...[
      "10.0.0.1",
      "10.255.255.255",
      "012.0.0.1",
      "167772161",
      "172.16.0.1",
      "172.31.255.255",
      "192.168.1.1",
      "3232235777",
    ],
    ...["100.64.0.1", "100.127.255.255"],
    ...[
      "169.254.169.254",
      "0xa9fea9fe",
      "2852039166",
      "169.254.43518",
      "0251.0376.0251.0376",
      "169.254.169.253",
      "169.254.170.2",
    ],
    ...[
      "192.0.0.8",
      "192.0.2.1",
      "192.88.99.1",
      "198.18.0.1",
      "198.19.255.255",
      "198.51.100.7",
      "203.0.113.9",
    ],
    ...["224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255"],
    ...["[::]", "[::1]", "[0:0:0:0:0:0:0:1]", "[::127.0.0.1]", "[::7f00:1]", "[::a9fe:a9fe]"],
    ...[
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
      "[0:0:0:0:0:ffff:10.0.0.1]",
      "[::ffff:8.8.8.8]",
      "[::ffff:0:127.0.0.1]",
    ],
    ...[
      "[64:ff9b::127.0.0.1]",
      "[64:ff9b::a9fe:a9fe]",
      "[64:ff9b:1::1]",
      "[2002:7f00:1::]",
      "[2002:a9fe:a9fe::1]",
    ],
    ...[
      "[2001::1]",
      "[2001:0:7f00:1::]",
      "[2001:db8::1]",
      "[3fff::1]",
      "[2001:2::1]",
      "[2001:10::1]",
      "[2001:20::1]",
    ],
    ...[
      "[fe80::1]",
      "[febf::1]",
      "[fec0::1]",
      "[fc00::1]",
      "[fd00:ec2::254]",
      "[ff02::1]",
      "[100::1]",
      "[5f00::1]",
      "[4000::1]",
    ],
  ])("%s", (written) => {
    expect(internet.admits(hostOf(written))).toBe(false);
  });
});

test.for([
  "8.8.8.8",
  "93.184.216.34",
  "134744072",
  "100.63.255.255",
  "172.32.0.1",
  "[2606:4700::1111]",
  "[2a00:1450::1]",
])("%s may be called", (written) => {
  expect(internet.admits(hostOf(written))).toBe(true);
});

test.for(["", "shop.example", "127.0.0.1:443", "fe80::1%eth0", "1.2.3", "0x7f.1", "[::1]"])(
  "%j, of a resolver, is no address that may be called",
  (address) => {
    expect(internet.admits(address)).toBe(false);
  },
);

test("an allowed network is called by its own addresses, and in no other's clothes", () => {
  const network = networkOf(["127.0.0.0/8", "fd00:1::/64"]);
  for (const address of ["127.0.0.1", "127.9.9.9", "fd00:1::5", "8.8.8.8"])
    expect(network.admits(address), address).toBe(true);
  for (const address of ["::ffff:127.0.0.1", "::127.0.0.1", "2002:7f00:1::", "fd00:2::5", "10.0.0.1", "::1"])
    expect(network.admits(address), address).toBe(false);
});

test.for(["127.0.0.1", "127.0.0.0/33", "fd00::/129", "localhost", "", "*", "127.0.0.0/-1"])(
  "%j is no network: a mistake in the configuration, which names it",
  (entry) => {
    expect(() => networkOf(["127.0.0.0/8", entry])).toThrow(ConfigurationError);
    expect(() => networkOf([entry])).toThrow(JSON.stringify(entry));
  },
);
