import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { ConfigurationError } from "../errors.ts";
import { webhookChannel } from "./channel.ts";
import { aKey, type Inbox, merchant, startInbox } from "./testing/inbox.ts";

let inbox: Inbox;
beforeAll(async () => {
  inbox = await startInbox();
});
afterEach(() => {
  inbox.faults.clear();
  inbox.clear();
});
afterAll(() => inbox.stop());

test("a webhook arrives at the merchant's inbox, signed by its own secret", async () => {
  const request = inbox.request();
  const accepted = { outcome: "accepted", provider: "webhook", providerMessageId: request.notificationId };
  expect(await inbox.channel().send(request, {})).toEqual(accepted);
  expect(inbox.received).toMatchObject([
    {
      merchant,
      id: request.notificationId,
      verified: true,
      payload: { type: "shipment.customs_hold", data: { notification_id: request.notificationId } },
      headers: {
        "content-type": "application/json",
        "idempotency-key": request.notificationId,
        connection: "close",
      },
    },
  ]);
});

test("sent again, it has the same id, and the inbox knows it", async () => {
  const channel = inbox.channel();
  await channel.send(inbox.request(), {});
  await channel.send(inbox.request(), {});
  const { notificationId } = inbox.request();
  expect(inbox.received.map(({ id, repeats }) => [id, repeats])).toEqual([
    [notificationId, 0],
    [notificationId, 1],
  ]);
  expect(inbox.times(merchant, notificationId)).toBe(2);
});

test("during a rotation, a merchant that has the old secret verifies it, and after it not", async () => {
  await inbox.channel({ keys: `${aKey(2)} ${aKey(1)}` }).send(inbox.request(), {});
  expect(inbox.received).toMatchObject([{ verified: true }]);
  const result = await inbox.channel({ keys: aKey(2) }).send(inbox.request(), {});
  expect(result).toEqual({ outcome: "transient", reason: "NotAccepted: status 401", answered: true });
  expect(inbox.received).toHaveLength(1);
});

test("an endpoint that fails three times rests, and is asked again afterwards; other merchants' are not concerned", async () => {
  let seconds = 0;
  const channel = inbox.channel({ now: () => Date.now() + seconds * 1_000 });
  const mend = inbox.faults.add((webhook) => (webhook.merchant === merchant ? { status: 500 } : undefined));
  const failed = { outcome: "transient", reason: "ServerError: status 500", answered: true };
  for (let time = 0; time < 3; time += 1) expect(await channel.send(inbox.request(), {})).toEqual(failed);
  const resting = {
    outcome: "throttled",
    reason: "EndpointRests: it failed or asked for time, and is not called for a while",
    retryAfterSeconds: 30,
    scope: "recipient",
  };
  mend();
  expect(await channel.send(inbox.request(), {})).toEqual(resting);
  const another = { ...inbox.request().merchant, id: "mer_8" };
  const toAnother = inbox.request({ merchant: another, address: inbox.addressOf("mer_8") });
  expect(await channel.send(toAnother, {})).toMatchObject({ outcome: "accepted" });
  seconds += 31;
  expect(await channel.send(inbox.request(), {})).toMatchObject({ outcome: "accepted" });
  expect(await channel.send(inbox.request(), {})).toMatchObject({ outcome: "accepted" });
});

test("an endpoint that asks for time gets it, whatever else is for it", async () => {
  const channel = inbox.channel();
  inbox.faults.add(() => ({ status: 503, headers: { "retry-after": "120" } }));
  const throttled = { outcome: "throttled", retryAfterSeconds: 120, scope: "recipient" };
  expect(await channel.send(inbox.request(), {})).toMatchObject({
    ...throttled,
    reason: "ServerError: status 503",
  });
  expect(await channel.send(inbox.request(), {})).toMatchObject({
    ...throttled,
    reason: expect.stringMatching(/^EndpointRests: /),
  });
});

test("an endpoint that answers with client errors is called on: its messages come to an end", async () => {
  const channel = inbox.channel();
  inbox.faults.add(() => ({ status: 404 }));
  for (let time = 0; time < 5; time += 1)
    expect(await channel.send(inbox.request(), {})).toMatchObject({ reason: "NotAccepted: status 404" });
});

test.for([
  [{ keys: "secret" }, /key 1 does not begin with whsec_/],
  [{ allow: ["localhost"] }, /"localhost"/],
  [{ ca: "secret" }, /no certificate in PEM/],
  [{ timeoutMs: 0 }, /timeout must be whole milliseconds above 0, not 0/],
  [{ timeoutMs: 1.5 }, /not 1.5/],
] as const)("a channel with %o is not made", ([change, message]) => {
  const make = () => webhookChannel({ keys: aKey(1), allow: [], ca: null, timeoutMs: 5_000, ...change });
  expect(make).toThrow(ConfigurationError);
  expect(make).toThrow(message);
  expect(make).not.toThrow(/: secret/);
});
