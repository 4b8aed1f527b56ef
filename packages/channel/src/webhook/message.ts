import { Webhook } from "standardwebhooks";
import type { SendRequest } from "../channel.ts";
import { RefusedError } from "../errors.ts";
import { renderWebhook } from "../templates/index.ts";
import { derivedSecrets, type RootKeys } from "./secret.ts";

/** One webhook, ready to be posted. */
export type Message = { body: string; headers: Record<string, string> };

/**
 * The webhook of one notification, by the Standard Webhooks specification: its id is the ledger row's at every try,
 * so that the receiver can drop repeats; its `timestamp` is the event's, and the signature's that of this try. There
 * is no address in it, and nobody's name.
 *
 * @param at the time of this try, which receivers compare with their own
 * @throws RefusedError: `InvalidNotification`, or as `renderWebhook` does.
 */
export function compose(request: SendRequest, keys: RootKeys, at: Date): Message {
  const { notificationId: id, shipment, merchant } = request;
  // It is a header's value, and a part of what is signed, where full stops separate.
  if (typeof id !== "string" || !/^[\w-]{1,256}$/.test(id)) {
    throw new RefusedError("InvalidNotification", "notificationId cannot be a webhook's id");
  }
  const { title, text } = renderWebhook(request);
  const occurredAt = shipment.occurredAt.toISOString();
  const body = JSON.stringify({
    type: `shipment.${shipment.status}`,
    timestamp: occurredAt,
    data: {
      notification_id: id,
      shipment_id: shipment.id,
      tracking_number: shipment.trackingNumber,
      status: shipment.status,
      occurred_at: occurredAt,
      template: request.template,
      merchant_id: merchant.id,
      role: request.role,
      title,
      text,
    },
  });
  const signatures = derivedSecrets(keys, merchant.id).map((secret) =>
    new Webhook(secret).sign(id, at, body),
  );
  return {
    body,
    headers: {
      "content-type": "application/json",
      "content-length": `${Buffer.byteLength(body)}`,
      "user-agent": "Owed-Webhooks/1",
      "idempotency-key": id,
      "webhook-id": id,
      "webhook-timestamp": `${Math.floor(at.getTime() / 1_000)}`,
      "webhook-signature": signatures.join(" "),
    },
  };
}
