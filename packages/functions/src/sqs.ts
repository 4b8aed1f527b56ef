import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { SQSClient } from "@aws-sdk/client-sqs";
import { NodeHttpHandler } from "@smithy/node-http-handler";

/**
 * The SQS client of a function. Repeats are safe here (deduplication ids, the ledger's check), so the SDK's own
 * retries with jitter stay on. `requests` bounds the sockets: the caller never has more in flight.
 */
export const createSqsClient = (requests: number): SQSClient =>
  new SQSClient({
    maxAttempts: 3,
    // Nothing is added to the client's middleware later: resolved once for each command, an eighth of a call's time less.
    cacheMiddleware: true,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: 2000,
      requestTimeout: 5000,
      throwOnRequestTimeout: true,
      httpAgent: new HttpAgent({ keepAlive: true, maxSockets: requests }),
      httpsAgent: new HttpsAgent({ keepAlive: true, maxSockets: requests }),
    }),
  });
