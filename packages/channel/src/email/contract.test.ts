import { channelContract } from "../testing/contract.ts";
import { emailChannel } from "./channel.ts";
import { aClient, aRequest } from "./fixtures.ts";
import { accept, fail } from "./ses-double.ts";

const clients: ReturnType<typeof aClient>[] = [];

channelContract("email", {
  open(origin, { timeoutMs }) {
    const client = aClient(origin);
    clients.push(client);
    const channel = emailChannel({ client, from: "notify@owed.example", configurationSet: null, timeoutMs });
    return { channel, request: aRequest() };
  },
  close() {
    for (const client of clients.splice(0)) client.destroy();
  },
  badAddress: "ana.lind@example.org\r\nBcc: eve@example.org",
  notificationId: ({ body }) => new URLSearchParams(body).get("Tags.member.1.Value"),
  accept: accept("m-1"),
  throttle: (seconds) =>
    fail(400, "Throttling", "Maximum sending rate exceeded.", { "retry-after": `${seconds}` }),
  refuse: (why) => fail(400, "InvalidParameterValue", why),
});
