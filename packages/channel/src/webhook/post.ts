import type { IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import type { SecureContext } from "node:tls";
import type { Answer } from "../http/answer.ts";
import type { Message } from "./message.ts";

export type Connection = {
  /** IP addresses, checked: the connection goes to one of them and to no other. */
  addresses: readonly string[];
  /** Undefined: the authorities that Node trusts. */
  secureContext: SecureContext | undefined;
  signal: AbortSignal;
};

/**
 * All addresses are asked for at once, and the next one is tried after so many milliseconds: Node's 250 are too few for
 * another continent.
 */
const attempts = { autoSelectFamily: true, autoSelectFamilyAttemptTimeout: 1_000 };
/** Bytes of an answer's headers. */
const longestHead = 16_384;

/**
 * Posts a message over a connection of its own, to the host's TLS certificate, and follows no redirect. A kept
 * connection would save two round trips and a handshake, and would outlive the check of its address.
 *
 * @returns the answer as soon as its headers are there
 */
export function post(
  url: URL,
  message: Message,
  { addresses, secureContext, signal }: Connection,
): Promise<IncomingMessage> {
  const answered = Promise.withResolvers<IncomingMessage>();
  const request = httpsRequest(url, {
    method: "POST",
    headers: message.headers,
    agent: false,
    ...attempts,
    // Node does not ask where the URL's host is an address: that one was checked as well.
    lookup: (_name, _options, done) =>
      done(
        null,
        addresses.map((address) => ({ address, family: isIP(address) })),
      ),
    ...(secureContext ? { secureContext } : {}),
    maxHeaderSize: longestHead,
    signal,
  });
  request.on("response", answered.resolve);
  request.on("error", answered.reject);
  // Node destroys a connection that somebody upgrades unasked, without an error.
  request.on("close", () => answered.reject(Object.assign(new Error("closed"), { code: "ECONNRESET" })));
  request.end(message.body);
  return answered.promise;
}

/** Bytes of an answer's body, and milliseconds that its end is waited for. */
const longestBody = 4_096;
const longestWait = 250;

/**
 * Takes an answer's status and headers, which decide alone, and ends the connection. A little of its body is read and
 * dropped, so that a receiver that answers in one go sees its answer taken.
 *
 * @param withinMs milliseconds that are left of the call's time
 */
export async function finish(response: IncomingMessage, withinMs: number): Promise<Answer> {
  const timer = setTimeout(() => response.destroy(), Math.min(Math.max(withinMs, 0), longestWait));
  let bytes = 0;
  try {
    for await (const chunk of response) {
      bytes += chunk.length;
      if (bytes >= longestBody) break;
    }
  } catch {
    // It broke off, or was too slow.
  } finally {
    clearTimeout(timer);
    response.destroy();
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers)) headers[name] = String(value);
  return { status: response.statusCode ?? 0, headers };
}
