import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { ConfigurationError } from "../errors.ts";

/** Which IP addresses may be called. */
export type Network = {
  /** @param address IPv4 or IPv6, as a resolver or a URL without its brackets has it; anything else may not be called */
  admits(address: string): boolean;
};

/** All that IANA has given out of IPv6 for the public. Outside, `::7f00:1` would pass: IPv4-compatible, and loopback. */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * The public internet, and what is allowed besides: addresses that are private, shared (carrier-grade NAT),
 * link-local (the cloud's metadata), loopback, multicast or reserved are not admitted, and none that holds an IPv4
 * address in IPv6 (mapped, NAT64, 6to4, Teredo): no server of the public needs to be called by one.
 *
 * @param allow networks (CIDR) that are admitted although they are not public
 * @throws ConfigurationError naming the entry that is no network
 */
export function networkOf(allow: readonly string[]): Network {
  const allowed = allow.map(parseNetwork);
  return {
    admits(text) {
      if (isIP(text) === 0) return false;
      const address = ipaddr.parse(text);
      if (allowed.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits)))
        return true;
      if (address.range() !== "unicast") return false;
      return address.kind() === "ipv4" || address.match(globalUnicast);
    },
  };
}

function parseNetwork(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (!ipaddr.isValidCIDR(text)) {
    throw new ConfigurationError(
      `The network ${JSON.stringify(text)}, which webhooks may call although it is not public, is none: ` +
        "write it as 127.0.0.0/8 or fd00::/8",
    );
  }
  return ipaddr.parseCIDR(text);
}
