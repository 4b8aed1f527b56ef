import { randomBytes } from "node:crypto";
import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { secretsOf } from "@owed/channel";
import type { Bus } from "./bus.ts";
import { type LocalSms, startSms } from "./sms/index.ts";
import { type LocalWebhooks, startWebhooks } from "./webhook/index.ts";

export type Receivers = {
  sms: LocalSms;
  webhooks: LocalWebhooks & {
    /** The root key, from which each merchant's secret is derived. */
    key: string;
  };
  stop(): Promise<void>;
};

export type ReceiversOptions = {
  bus: Bus;
  client: SQSClient;
  /** Where what people answer goes, by a topic. */
  feedbackQueueUrl: string;
  /** The webhooks'; 0 for any free one. */
  port?: number;
};

/** Who gets texts and webhooks on this machine: a provider of texts, and merchants' inboxes. @throws PortTaken */
export async function startReceivers(options: ReceiversOptions): Promise<Receivers> {
  const { bus, client, feedbackQueueUrl, port = 0 } = options;
  bus.rule({ source: "aws.sms-voice", queueUrl: feedbackQueueUrl });
  const sms = await startSms({
    onEvent: (event) => bus.put(event),
    onInbound: async (text) => {
      const inbound = { QueueUrl: feedbackQueueUrl, MessageBody: JSON.stringify(text) };
      await client.send(new SendMessageCommand(inbound));
    },
  });
  try {
    const key = `whsec_${randomBytes(32).toString("base64")}`;
    const webhooks = await startWebhooks({
      ...{ port, setting: "OWED_PORT_WEBHOOKS" },
      secretOf: (merchant) => secretsOf(key, merchant)[0] ?? "",
    });
    return {
      sms,
      webhooks: { ...webhooks, key },
      stop: async () => void (await Promise.all([sms.stop(), webhooks.stop()])),
    };
  } catch (error) {
    await sms.stop();
    throw error;
  }
}
