export type { WebhookFault, WebhookFaults } from "./faults.ts";
export type { ReceivedWebhook } from "./received.ts";
export { type LocalWebhooks, startWebhooks, type WebhooksOptions } from "./start.ts";
