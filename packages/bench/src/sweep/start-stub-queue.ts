import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { SQSClient } from "@aws-sdk/client-sqs";
import { createSqsClient } from "@owed/functions/sqs";

export type StubQueue = {
  url: string;
  /** The functions' own client. */
  sqs: SQSClient;
  stop(): Promise<void>;
};

const program = fileURLToPath(new URL("./stub-queue.ts", import.meta.url));

/**
 * Starts a queue of another process that answers each call after so many milliseconds, and a client for it.
 *
 * @param requests the sockets that the client may have
 */
export async function startStubQueue(serviceTime: number, requests: number): Promise<StubQueue> {
  const child = fork(program, [String(serviceTime)]);
  const [port] = await once(child, "message");
  const endpoint = `http://127.0.0.1:${port}`;
  // As Lambda gives a function its region and credentials.
  Object.assign(process.env, {
    ...{ AWS_ENDPOINT_URL_SQS: endpoint, AWS_REGION: "us-east-1" },
    ...{ AWS_ACCESS_KEY_ID: "local", AWS_SECRET_ACCESS_KEY: "local" },
  });
  const sqs = createSqsClient(requests);
  // Read now: the next client gets another endpoint.
  await sqs.config.serviceConfiguredEndpoint?.();
  return {
    url: `${endpoint}/000000000000/notification.fifo`,
    sqs,
    async stop() {
      sqs.destroy();
      child.disconnect();
      await once(child, "exit");
    },
  };
}
