import {
  type Channel,
  createSesClient,
  createSmsClient,
  emailChannel,
  smsChannel,
  webhookChannel,
} from "@owed/channel";
import { linked, resource } from "../resources.ts";

/** Makes a channel of this stage; null where nothing is linked for it. */
type Make = (timeoutMs: number) => Channel | null;

const email: Make = (timeoutMs) => {
  const { sender, configurationSet } = resource("Email");
  return emailChannel({ client: createSesClient(), from: sender, configurationSet, timeoutMs });
};

const sms: Make = (timeoutMs) => {
  const link = linked("Sms");
  if (!link) return null;
  const { originationIdentity, configurationSet } = link;
  return smsChannel({ client: createSmsClient(), originationIdentity, configurationSet, timeoutMs });
};

const webhook: Make = (timeoutMs) => {
  const key = linked("WebhookKey");
  if (!key) return null;
  const { allow, ca } = linked("WebhookNetwork") ?? { allow: [], ca: null };
  return webhookChannel({ keys: key.value, allow, ca, timeoutMs });
};

/** The stage's channels by name: each is a folder in packages/channel, a line here, and a row in the ledger. */
export const createChannels = (timeoutMs: number): ReadonlyMap<string, Channel> =>
  new Map(
    [email, sms, webhook].flatMap((make) => {
      const channel = make(timeoutMs);
      return channel ? [[channel.name, channel] as const] : [];
    }),
  );
