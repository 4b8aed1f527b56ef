import { X509Certificate } from "node:crypto";
import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";
import type { Channel, SendResult } from "../channel.ts";
import { ConfigurationError, RefusedError } from "../errors.ts";
import { bounded } from "../http/bounded.ts";
import { Flight } from "../http/flight.ts";
import { refused } from "../refused.ts";
import { parseAddress } from "./address.ts";
import { Endpoints } from "./endpoints.ts";
import { compose, type Message } from "./message.ts";
import { networkOf } from "./network.ts";
import { finish, post } from "./post.ts";
import { checkedAddresses, dnsOf, type Resolve } from "./resolve.ts";
import { parseRootKeys } from "./secret.ts";
import { type Verdict, verdictOf, verdictOfFailure } from "./verdict.ts";

export type WebhookOptions = {
  /** The root keys, see secret.ts. */
  keys: string;
  /** Networks (CIDR) that may be called although they are not public. */
  allow: readonly string[];
  /** Certificates in PEM that are trusted besides those that Node trusts; null: none. */
  ca: string | null;
  /** Milliseconds for the whole of one send, from the host's name to the answer. */
  timeoutMs: number;
  /** DNS; for tests. */
  resolve?: Resolve;
  /** Milliseconds since the epoch; for tests. */
  now?: () => number;
};

/**
 * Webhooks to merchants' inboxes, signed by the Standard Webhooks specification: one POST over HTTPS for one
 * notification, to the very IP address that was checked.
 * @throws ConfigurationError if `keys`, `allow`, `ca` or `timeoutMs` is unusable.
 */
export function webhookChannel(options: WebhookOptions): Channel {
  const { timeoutMs, resolve = dnsOf(null), now = Date.now } = options;
  const keys = parseRootKeys(options.keys);
  const network = networkOf(options.allow);
  const secureContext = trusting(options.ca);
  const endpoints = new Endpoints(now);
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs <= 0) {
    throw new ConfigurationError(
      `The webhook channel's timeout must be whole milliseconds above 0, not ${timeoutMs}`,
    );
  }

  async function call(url: URL, message: Message, id: string, signal?: AbortSignal): Promise<Verdict> {
    const flight = new Flight();
    const began = performance.now();
    try {
      const response = await bounded(timeoutMs, signal, async (stop) => {
        const addresses = await checkedAddresses(url, network, resolve, stop);
        stop.throwIfAborted();
        flight.stage = "handed over";
        return flight.follow(() => post(url, message, { addresses, secureContext, signal: stop }));
      });
      const left = timeoutMs - (performance.now() - began);
      return verdictOf(await finish(response, left), id);
    } catch (error) {
      if (error instanceof RefusedError) return { result: refused(error), met: "nothing" };
      return verdictOfFailure(error, flight);
    }
  }

  return {
    name: "webhook",
    async send(request, { signal }) {
      let url: URL;
      let message: Message;
      try {
        url = parseAddress(request.address);
        message = compose(request, keys, new Date(now()));
      } catch (error) {
        return refused(error);
      }
      // A host may be many merchants' (a service that takes webhooks for them), and one merchant's trouble is its own.
      const admission = endpoints.admit(`${request.merchant.id} ${url.host}`);
      if (!("met" in admission)) return resting(admission.waitSeconds);
      const { result, met } = await call(url, message, request.notificationId, signal);
      admission.met(met);
      return result;
    },
  };
}

const resting = (seconds: number): SendResult => ({
  outcome: "throttled",
  reason: "EndpointRests: it failed or asked for time, and is not called for a while",
  retryAfterSeconds: seconds,
  scope: "recipient",
});

/** What Node trusts, and `ca`. */
function trusting(ca: string | null): SecureContext | undefined {
  if (ca === null) return undefined;
  try {
    new X509Certificate(ca);
  } catch {
    throw new ConfigurationError("The webhooks' additional CA is no certificate in PEM");
  }
  return createSecureContext({ ca: [...getCACertificates("default"), ca] });
}
