import { channelContract } from "../testing/contract.ts";
import type { Answer } from "../testing/provider.ts";
import { aChannel, aClient, aTextRequest } from "./fixtures.ts";

const clients: ReturnType<typeof aClient>[] = [];

const reply =
  (status: number, body: object, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { "content-type": "application/x-amz-json-1.0", ...headers });
    response.end(JSON.stringify(body));
  };

channelContract("sms", {
  open(origin, { timeoutMs }) {
    const client = aClient(origin);
    clients.push(client);
    return { channel: aChannel(client, timeoutMs), request: aTextRequest() };
  },
  close() {
    for (const client of clients.splice(0)) client.destroy();
  },
  badAddress: "0664 1234567",
  notificationId: ({ body }) => JSON.parse(body).Context.notification,
  accept: reply(200, { MessageId: "m-1" }),
  throttle: (seconds) =>
    reply(400, { __type: "ThrottlingException", Message: "Rate exceeded" }, { "retry-after": `${seconds}` }),
  refuse: (why) => reply(400, { __type: "ValidationException", Message: why, Reason: "COUNTRY_NOT_ENABLED" }),
});
