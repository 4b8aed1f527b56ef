import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { text } from "node:stream/consumers";
import { createAuthority } from "../certificates.ts";
import { listen } from "../port.ts";
import { answer } from "./answer.ts";
import { createFaults, type WebhookFaults } from "./faults.ts";
import { Inboxes, type ReceivedWebhook, verify } from "./received.ts";

export interface WebhooksOptions {
  readonly port?: number;
  /** The name of the setting that holds the port, for the error when it is taken. */
  readonly setting?: string;
  /** A merchant's signing secret, `whsec_<base64>`. It is asked for at each webhook, so it can change. */
  readonly secretOf: (merchant: string) => string;
  /** How many webhooks stay, at least. */
  readonly keep?: number;
}

export interface LocalWebhooks {
  /** `https://localhost:<port>` */
  readonly endpoint: string;
  /** The address of a merchant's inbox. */
  addressOf(merchant: string): string;
  /** The certificate of the authority that signed the server's, in PEM: whoever calls has to trust it. */
  readonly authority: string;
  /** The networks (CIDR) that whoever calls has to allow: this machine's own. */
  readonly allow: readonly string[];
  readonly faults: WebhookFaults;
  /** The webhooks that were answered with 2xx, in their order, repeats too. */
  readonly received: readonly ReceivedWebhook[];
  /** How many with this id a merchant's inbox has taken. */
  times(merchant: string, id: string): number;
  /** Empties the inboxes. */
  clear(): void;
  stop(): Promise<void>;
}

/**
 * Merchants' inboxes on this machine, over HTTPS with a certificate of an authority of their own: each checks the
 * signatures of what it gets as a receiver does, and keeps it in memory.
 *
 * @throws PortTaken
 */
export async function startWebhooks(options: WebhooksOptions): Promise<LocalWebhooks> {
  const { port = 0, setting = "the port of the webhooks", secretOf, keep = 200_000 } = options;
  const authority = createAuthority("Owed's local inboxes");
  const { certificate, key } = authority.issue("localhost", "127.0.0.1");
  const inboxes = new Inboxes(keep);
  const faults = createFaults();

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, inbox = ""] = /^\/([^/?]+)$/.exec(request.url ?? "") ?? [];
    const merchant = decoded(inbox);
    const body = await text(request);
    if (request.method !== "POST" || merchant === "") return void response.writeHead(404).end();
    const { headers } = request;
    const webhook = verify({ merchant, headers, body }, secretOf(merchant));
    await answer({ ...webhook, repeats: inboxes.times(merchant, webhook.id) }, response, inboxes, faults);
  }

  const server = createServer({ cert: certificate, key }, (request, response) => {
    take(request, response).catch((error: unknown) => {
      // A sender that leaves in the middle is none of our trouble.
      if (!request.destroyed) console.error(`${setting}: could not answer ${request.url}:`, error);
      response.destroy();
    });
  });
  const actual = await listen(server, port, setting);
  const endpoint = `https://localhost:${actual}`;
  return {
    endpoint,
    addressOf: (merchant) => `${endpoint}/${encodeURIComponent(merchant)}`,
    authority: authority.certificate,
    allow: ["127.0.0.0/8"],
    faults,
    received: inboxes.received,
    times: (merchant, id) => inboxes.times(merchant, id),
    clear: () => inboxes.clear(),
    stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

/** Empty for what is no encoded text. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}
