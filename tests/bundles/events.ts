import { randomUUID } from "node:crypto";
import { DeleteMessageBatchCommand, ReceiveMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { toRecord } from "../../packages/local/src/event-source/record.ts";

/** A shipment event as the platform puts it on the bus. */
export const shipmentEvent = (shipmentId: string) => ({
  source: "platform",
  "detail-type": "shipment.status_changed",
  detail: {
    id: `evt-${randomUUID()}`,
    shipment_id: shipmentId,
    status: "out_for_delivery",
    occurred_at: new Date().toISOString(),
  },
});

/** What EventBridge Scheduler hands to a Lambda function when its target names no input of its own. */
export const scheduleEvent = () => ({
  version: "0",
  id: randomUUID(),
  "detail-type": "Scheduled Event",
  source: "aws.scheduler",
  account: "000000000000",
  time: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
  region: "us-east-1",
  resources: ["arn:aws:scheduler:us-east-1:000000000000:schedule/default/sweep"],
  detail: "{}",
});

type Event = { Records: ReturnType<typeof toRecord>[] };

/**
 * Invokes a queue's consumer with what waits in it, ten messages at most, as Lambda would; resolves to what it answered.
 * The messages are gone then, unless it threw.
 */
export async function consume<Answer>(
  client: SQSClient,
  { url: QueueUrl, arn }: { url: string; arn: string },
  invoke: (event: Event) => Promise<Answer>,
): Promise<Answer> {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages: 10,
      WaitTimeSeconds: 10,
      MessageSystemAttributeNames: ["All"],
      MessageAttributeNames: ["All"],
    }),
  );
  if (Messages.length === 0) throw new Error(`no message came into ${QueueUrl}`);
  const answer = await invoke({ Records: Messages.map((message) => toRecord(message, arn, "us-east-1")) });
  const Entries = Messages.map(({ ReceiptHandle }, place) => ({ Id: String(place), ReceiptHandle }));
  await client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
  return answer;
}
