import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { NodeHttpHandler } from "@smithy/node-http-handler";

export type Waits = {
  /** Milliseconds until a connection must stand. Default 3,000. */
  connectTimeoutMs?: number;
  /** Milliseconds until an answer must have begun. Default 10,000. */
  requestTimeoutMs?: number;
  /** Connections at the same time; further requests wait. Default 50. */
  maxSockets?: number;
  /**
   * Milliseconds until an idle socket is closed. Default 4,000. A request on a socket that the other side has
   * closed ends as `unknown`, so idle ones are given up early; a thawed Lambda finds its old ones expired.
   */
  idleMs?: number;
};

/** How a client of the AWS SDK speaks HTTP when it sends: every wait has an end. */
export function requestHandler(waits: Waits): NodeHttpHandler {
  const { connectTimeoutMs = 3_000, requestTimeoutMs = 10_000, maxSockets = 50, idleMs = 4_000 } = waits;
  const agent = { keepAlive: true, maxSockets, timeout: idleMs };
  return new NodeHttpHandler({
    connectionTimeout: connectTimeoutMs,
    requestTimeout: requestTimeoutMs,
    throwOnRequestTimeout: true, // without it, the handler warns and goes on waiting
    httpAgent: new HttpAgent(agent),
    httpsAgent: new HttpsAgent(agent),
  });
}
