import { createAuthority } from "../../../local/src/certificates.ts";
import type { Channel } from "../channel.ts";
import { aRequest } from "../email/fixtures.ts";
import { channelContract } from "../testing/contract.ts";
import type { Answer } from "../testing/provider.ts";
import { webhookChannel } from "./channel.ts";
import { aKey } from "./testing/inbox.ts";

const authority = createAuthority("The authority of a test");
const { certificate, key } = authority.issue("localhost");

let hours = 0;
const now = () => hours * 3_600_000;
const options = { keys: aKey(1), allow: ["127.0.0.0/8"], ca: authority.certificate, now };
/** To trust an authority takes a channel 15 ms. */
const channels = new Map<number, Channel>();

const reply =
  (status: number, headers = {}, body = ""): Answer =>
  (response) =>
    void response.writeHead(status, headers).end(body);

channelContract("webhook", {
  tls: { cert: certificate, key },
  open(origin, { timeoutMs }) {
    // Whatever an endpoint was left alone for, is over by the next test.
    hours += 1;
    const channel = channels.get(timeoutMs) ?? webhookChannel({ ...options, timeoutMs });
    channels.set(timeoutMs, channel);
    return { channel, request: aRequest({ address: `${origin}/inbox` }) };
  },
  badAddress: "https://ana:secret@localhost/inbox",
  notificationId: ({ headers }) => String(headers["idempotency-key"]),
  accept: reply(204),
  throttle: (seconds) => reply(429, { "retry-after": `${seconds}` }),
  refuse: (why) => reply(410, {}, why),
});
