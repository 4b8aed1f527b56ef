import type { Backend } from "./backend.ts";
import { type Json, parseObject, text } from "./json.ts";

/** A queue as its attributes describe it. */
export interface QueueInfo {
  readonly url: string;
  readonly arn: string;
  /** Visible and in flight: fauxqs counts a message whose visibility ended as in flight until a receive. */
  readonly messages: number;
  /** The queue that takes what was received too often. */
  readonly deadLetterArn: string | undefined;
}

/** All queues, with what concerns their dead letters. */
export async function listQueues(backend: Backend): Promise<readonly QueueInfo[]> {
  const { QueueUrls } = await backend.ask("ListQueues", {});
  const urls = Array.isArray(QueueUrls) ? QueueUrls.map(String) : [];
  return Promise.all(urls.map((url) => describe(backend, url)));
}

async function describe(backend: Backend, url: string): Promise<QueueInfo> {
  const { Attributes } = await backend.ask("GetQueueAttributes", { QueueUrl: url, AttributeNames: ["All"] });
  const attributes = Object(Attributes) as Json;
  const policy = text(attributes, "RedrivePolicy");
  return {
    url,
    arn: text(attributes, "QueueArn") ?? "",
    messages:
      Number(attributes.ApproximateNumberOfMessages) +
      Number(attributes.ApproximateNumberOfMessagesNotVisible),
    deadLetterArn: policy ? text(parseObject(policy), "deadLetterTargetArn") : undefined,
  };
}

/** ListDeadLetterSourceQueues, which fauxqs lacks: the queues whose dead letters come to `queueName`. */
export async function deadLetterSources(backend: Backend, queueName: string): Promise<Json> {
  const queues = await listQueues(backend);
  const sources = queues.filter(({ deadLetterArn }) => deadLetterArn?.endsWith(`:${queueName}`));
  return { queueUrls: sources.map(({ url }) => url) };
}
