import { SESClient, SendEmailCommand, type SendEmailCommandInput } from "@aws-sdk/client-ses";
import type { SesEvent } from "./event.ts";
import { type LocalSes, type SesOptions, startSes } from "./start.ts";

/** A mailbox of a test's own, with a client and the events it has emitted. */
export interface TestSes extends LocalSes {
  readonly client: SESClient;
  readonly events: SesEvent[];
  /** Sends an email that is all right but for what is given. Returns its message id. */
  send(more?: Partial<SendEmailCommandInput>): Promise<string>;
}

export function sesClient(endpoint: string): SESClient {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  return new SESClient({ endpoint, region: "us-east-1", credentials, maxAttempts: 1 });
}

export async function startTestSes(options: SesOptions = {}): Promise<TestSes> {
  const events: SesEvent[] = [];
  const ses = await startSes({ onEvent: (event) => void events.push(event), ...options });
  const client = sesClient(ses.endpoint);
  return {
    ...ses,
    client,
    events,
    async send(more) {
      const email = {
        Source: "Parcels <parcels@example.com>",
        Destination: { ToAddresses: ["buyer@example.com"] },
        Message: { Subject: { Data: "Held at customs" }, Body: { Text: { Data: "Your parcel waits." } } },
        ...more,
      };
      return (await client.send(new SendEmailCommand(email))).MessageId ?? "";
    },
    async stop() {
      client.destroy();
      await ses.stop();
    },
  };
}
