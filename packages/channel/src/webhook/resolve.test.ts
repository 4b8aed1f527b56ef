import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RefusedError } from "../errors.ts";
import { networkOf } from "./network.ts";
import { checkedAddresses, dnsOf, type Resolve } from "./resolve.ts";
import { type DnsAnswer, type DnsDouble, startDnsDouble } from "./testing/dns.ts";

const never = new AbortController().signal;

describe("the addresses of a host", () => {
  const checked = (url: string, resolve: Resolve) =>
    checkedAddresses(new URL(url), networkOf(["127.0.0.0/8"]), resolve, never);
  const privately = new RefusedError("PrivateAddress", "the host is not on the public internet");

  test("are what DNS says, all of them", async () => {
    const names: string[] = [];
    const addresses = ["93.184.216.34", "2606:4700::1111", "127.0.0.1"];
    const resolve: Resolve = async (name) => {
      names.push(name);
      return addresses;
    };
    expect(await checked("https://shop.example:8443/inbox", resolve)).toEqual(addresses);
    expect(names).toEqual(["shop.example"]);
  });

  test.for([
    [["10.0.0.1"]],
    [["93.184.216.34", "10.0.0.1"]],
    [["93.184.216.34", "2606:4700::1111", "::ffff:93.184.216.34"]],
    [["169.254.169.254", "93.184.216.34"]],
    [["93.184.216.34", "shop.example"]],
  ] as const)("%j: one that is not public refuses the name", async ([addresses]) => {
    await expect(checked("https://shop.example/", async () => [...addresses])).rejects.toThrow(privately);
  });

  test("are the URL's own where it has one, and nobody is asked", async () => {
    const resolve: Resolve = () => Promise.reject(new Error("It was asked."));
    expect(await checked("https://93.184.216.34/", resolve)).toEqual(["93.184.216.34"]);
    expect(await checked("https://[2606:4700::1111]/", resolve)).toEqual(["2606:4700::1111"]);
    expect(await checked("https://0x7f.1/", resolve)).toEqual(["127.0.0.1"]);
    for (const host of ["169.254.169.254", "2852039166", "[::1]", "[::ffff:127.0.0.1]"])
      await expect(checked(`https://${host}/`, resolve)).rejects.toThrow(privately);
  });

  test("are looked for again later where there is none", async () => {
    await expect(checked("https://shop.example/", async () => [])).rejects.toMatchObject({ code: "ENODATA" });
  });
});

describe("DNS", () => {
  const v4 = { addresses: [[93, 184, 216, 34]] };
  const v6 = { addresses: [[0x26, 6, 0x47, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0x11]] };
  const none = { addresses: [] };
  const [failure, unknown] = [{ error: 2 }, { error: 3 }];
  const names: Record<string, Record<string, DnsAnswer>> = {
    "both.example": { A: v4, AAAA: v6 },
    "v4.example": { A: v4, AAAA: none },
    "half.example": { A: v4, AAAA: unknown },
    "v6.example": { A: none, AAAA: v6 },
    "empty.example": { A: none, AAAA: none },
    "none.example": { A: unknown, AAAA: unknown },
    "broken.example": { A: failure, AAAA: failure },
    "silent.example": { A: "silence", AAAA: "silence" },
  };
  let dns: DnsDouble;
  let resolve: Resolve;
  beforeAll(async () => {
    dns = await startDnsDouble((name, type) => names[name]?.[type] ?? unknown);
    resolve = dnsOf([dns.server]);
  });
  afterAll(() => dns.stop());

  test.for([
    ["both.example", ["93.184.216.34", "2606:4700::1111"]],
    ["v4.example", ["93.184.216.34"]],
    ["half.example", ["93.184.216.34"]],
    ["v6.example", ["2606:4700::1111"]],
  ] as const)("%s is at %j", async ([name, addresses]) => {
    expect(await resolve(name, never)).toEqual(addresses);
  });

  test.for([
    ["empty.example", "ENODATA"],
    ["none.example", "ENOTFOUND"],
    ["broken.example", "ESERVFAIL"],
  ] as const)("%s has no address: %s", async ([name, code]) => {
    await expect(resolve(name, never)).rejects.toMatchObject({ code });
  });

  test("a server that is silent is given up when the call's time is over", async () => {
    const stop = new AbortController();
    const answer = resolve("silent.example", stop.signal);
    await expect.poll(() => dns.asked.includes("A silent.example"), { interval: 5 }).toBe(true);
    stop.abort();
    await expect(answer).rejects.toMatchObject({ code: "ECANCELLED" });
  });

  test("a name without a dot is no name of the machine's own domain", async () => {
    await expect(resolve("db", never)).rejects.toMatchObject({ code: "ENOTFOUND" });
    expect(dns.asked.filter((asked) => asked.includes(" db"))).toEqual(["A db", "AAAA db"]);
  });

  test.for(["localhost", "localhost.", "shop.localhost"])(
    "%s is this machine, and nobody is asked",
    async (name) => {
      const before = dns.asked.length;
      expect(await resolve(name, never)).toEqual(["127.0.0.1"]);
      expect(dns.asked).toHaveLength(before);
    },
  );
});
