import type { ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { WebhookFault, WebhookFaults } from "./faults.ts";
import type { Inboxes, ReceivedWebhook } from "./received.ts";

/** Keeps a webhook and answers it: 200, 401 where it is not verified, or as a fault has it. */
export async function answer(
  webhook: ReceivedWebhook,
  response: ServerResponse,
  inboxes: Inboxes,
  faults: WebhookFaults,
): Promise<void> {
  const fault = faults.match(webhook) ?? {};
  const status = fault.status ?? (webhook.verified ? 200 : 401);
  if (fault.delay) await delay(fault.delay, undefined, { ref: false });
  if (fault.drop === "before") return void response.req.socket.destroy();
  if (status >= 200 && status < 300) inboxes.add(webhook);
  if (fault.drop === "after") return void response.req.socket.destroy();
  await fault.hold;
  response.writeHead(status, fault.headers);
  await write(fault.body, response);
}

const dripMs = 20;
const flood = "x".repeat(65_536);

async function* dripping() {
  for (;;) {
    yield ".";
    await delay(dripMs, undefined, { ref: false });
  }
}

function* endless() {
  for (;;) yield flood;
}

/** Ends the answer, or goes on with it until the sender leaves. */
async function write(body: WebhookFault["body"], response: ServerResponse): Promise<void> {
  // An answer of these has no body: Node would drop it as fast as it is written, for ever.
  if (body === undefined || [204, 304].includes(response.statusCode)) return void response.end();
  await pipeline(body === "dripping" ? dripping() : endless(), response).catch(() => {});
}
