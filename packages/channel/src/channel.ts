/** What one notification needs in order to be sent. Times are instants; text may be hostile. */
export type SendRequest = {
  /** The ledger row's id (a UUID). The provider's events carry it back, so it must reach the provider. */
  notificationId: string;
  /** One of `templateNames`. */
  template: string;
  address: string;
  name: string | null;
  /** BCP 47, for example `de-AT`. */
  locale: string;
  /** The recipient's, by its name in the IANA database, for example `Europe/Vienna`; null where it is not known. */
  timeZone: string | null;
  shipment: { id: string; trackingNumber: string; status: string; occurredAt: Date };
  /** `trackingUrl`: https, with `{tracking_number}` where the parcel's goes. */
  merchant: { id: string; name: string; trackingUrl: string | null };
  role: "buyer" | "merchant" | "agent" | "warehouse";
};

/**
 * What became of one send. Every reason is short, starts with a code word (`MessageRejected: …`) and
 * holds no address or name, so that it may be stored and logged.
 */
export type SendResult =
  | { outcome: "accepted"; provider: string; providerMessageId: string }
  /** This row can never be sent. `answered`: the provider said so; without it we did, and nobody was called. */
  | { outcome: "refused"; reason: string; answered: boolean }
  /** Not sent, and not the row's fault: a rate, a daily quota, the state of the whole account, or a receiver that asks to wait. */
  | { outcome: "throttled"; reason: string; retryAfterSeconds: number | null; scope: ThrottleScope }
  /** Certainly not sent; may be tried again. `answered`: the provider works, and did not take this one. */
  | { outcome: "transient"; reason: string; answered: boolean }
  /** The request was written and no usable answer came: nobody knows. `answered`: the silence is one receiver's own. */
  | { outcome: "unknown"; reason: string; answered?: true };

/** `recipient`: this one receiver asks for time, and the channel is open to all others. */
export type ThrottleScope = "rate" | "quota" | "account" | "recipient";

/** What the provider lets this account send. */
export type Limits = {
  /** Messages a second; may be a fraction, never 0. Null: no limit known. */
  rate: number | null;
  /** Messages in 24 hours. Null: no limit. */
  quota: number | null;
  /** Of the quota, in the last 24 hours. */
  used: number;
};

/** A way to reach a recipient. `send` never throws for what a provider, the network or a row can cause. */
export interface Channel {
  readonly name: string;
  send(request: SendRequest, options: { signal?: AbortSignal }): Promise<SendResult>;
}
