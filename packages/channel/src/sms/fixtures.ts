import type { SendRequest } from "../channel.ts";
import { aRequest } from "../email/fixtures.ts";
import { smsChannel } from "./channel.ts";
import { createSmsClient, type SmsClientOptions } from "./client.ts";

/** A lifelike notification by text message for tests, changed as the test needs it. */
export const aTextRequest = (change: Partial<SendRequest> = {}): SendRequest =>
  aRequest({ address: "+436641234567", ...change });

export function aClient(endpoint: string, options: SmsClientOptions = {}) {
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  return createSmsClient({ region: "eu-central-1", endpoint, credentials, ...options });
}

export const aChannel = (client: ReturnType<typeof aClient>, timeoutMs = 5_000) =>
  smsChannel({ client, originationIdentity: "pool-1", configurationSet: "owed", timeoutMs });
