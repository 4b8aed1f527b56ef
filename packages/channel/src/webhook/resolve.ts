import { Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { RefusedError } from "../errors.ts";
import type { Network } from "./network.ts";

/** The addresses of a host name. Rejects with a system error's code (`ENOTFOUND`) where there is none. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<string[]>;

/**
 * The addresses of a URL's host, all of them checked, and the only ones that may be connected to: a name that is
 * asked for twice may answer differently. One address that is not public refuses the name, whatever others it has:
 * no public inbox has one, and what is called must not hang on the order of an answer.
 *
 * @throws RefusedError: `PrivateAddress`; or what `resolve` throws.
 */
export async function checkedAddresses(
  { hostname }: URL,
  network: Network,
  resolve: Resolve,
  signal: AbortSignal,
): Promise<string[]> {
  const host = hostname.replace(/^\[|\]$/g, "");
  const addresses = isIP(host) === 0 ? await resolve(host, signal) : [host];
  if (addresses.length === 0) throw Object.assign(new Error("no address"), { code: "ENODATA" });
  if (!addresses.every((address) => network.admits(address))) {
    throw new RefusedError("PrivateAddress", "the host is not on the public internet");
  }
  return addresses;
}

/** Two tries, so that one lost packet is no failure, and both within a call's time. Milliseconds. */
const patience = { timeout: 1_500, tries: 2 };

/**
 * Asks DNS itself, not the operating system, whose lookups have four threads for the whole process: some names whose
 * servers never answer would hold up everybody. No search domain and no hosts file makes a public name a local one.
 *
 * @param servers those to ask; null: the machine's own
 */
export function dnsOf(servers: readonly string[] | null): Resolve {
  return async (name, signal) => {
    // RFC 6761, section 6.3: it is this machine, and no server is asked.
    if (/^(.+\.)?localhost\.?$/.test(name)) return ["127.0.0.1"];
    const resolver = new Resolver(patience);
    if (servers) resolver.setServers(servers);
    const cancel = () => resolver.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      // One of the two is enough: many names have no other, and some servers fail when asked for it.
      if (ipv4.status === "rejected" && ipv6.status === "rejected") throw ipv4.reason;
      return [ipv4, ipv6].flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  };
}
