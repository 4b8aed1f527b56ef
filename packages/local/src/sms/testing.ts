import {
  PinpointSMSVoiceV2Client,
  SendTextMessageCommand,
  type SendTextMessageCommandInput,
} from "@aws-sdk/client-pinpoint-sms-voice-v2";
import type { SmsEvent } from "./event.ts";
import type { InboundText } from "./inbound.ts";
import { type LocalSms, type SmsOptions, startSms } from "./start.ts";

/** An SMS provider of a test's own, with a client, the events it has emitted and the answers that came. */
export interface TestSms extends LocalSms {
  readonly client: PinpointSMSVoiceV2Client;
  readonly events: SmsEvent[];
  readonly inbound: InboundText[];
  /** Sends a text that is all right but for what is given. Returns its message id. */
  send(more?: Partial<SendTextMessageCommandInput>): Promise<string>;
}

export async function startTestSms(options: SmsOptions = {}): Promise<TestSms> {
  const events: SmsEvent[] = [];
  const inbound: InboundText[] = [];
  const sms = await startSms({
    onEvent: (event) => void events.push(event),
    onInbound: (text) => void inbound.push(text),
    ...options,
  });
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const client = new PinpointSMSVoiceV2Client({
    ...{ endpoint: sms.endpoint, region: "us-east-1", credentials },
    maxAttempts: 1,
  });
  return {
    ...sms,
    client,
    events,
    inbound,
    async send(more) {
      const text = {
        DestinationPhoneNumber: "+436641234567",
        OriginationIdentity: "pool-1",
        MessageBody: "Your parcel waits.",
        ...more,
      };
      return (await client.send(new SendTextMessageCommand(text))).MessageId ?? "";
    },
    async stop() {
      client.destroy();
      await sms.stop();
    },
  };
}
