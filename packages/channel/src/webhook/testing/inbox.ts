import { type LocalWebhooks, startWebhooks } from "../../../../local/src/webhook/index.ts";
import type { SendRequest } from "../../channel.ts";
import { aRequest } from "../../email/fixtures.ts";
import { type WebhookOptions, webhookChannel } from "../channel.ts";
import { secretsOf } from "../secret.ts";

/** A root key of tests, as the setting has it: the same for the same number. */
export const aKey = (number: number): string => `whsec_${Buffer.alloc(32, number).toString("base64")}`;

export const merchant = aRequest().merchant.id;

/** A merchant's inbox over HTTPS, and channels that may call it. */
export type Inbox = LocalWebhooks & {
  /** A request to be sent there, changed as the test needs it. */
  request(change?: Partial<SendRequest>): SendRequest;
  /** A channel that trusts the inbox's authority and may call this machine, changed as the test needs it. */
  channel(change?: Partial<WebhookOptions>): ReturnType<typeof webhookChannel>;
};

export async function startInbox(): Promise<Inbox> {
  const inboxes = await startWebhooks({ secretOf: (whose) => secretsOf(aKey(1), whose)[0] ?? "" });
  const { authority: ca, allow } = inboxes;
  return {
    ...inboxes,
    request: (change) => aRequest({ address: inboxes.addressOf(merchant), ...change }),
    channel: (change) => webhookChannel({ keys: aKey(1), allow, ca, timeoutMs: 5_000, ...change }),
  };
}
