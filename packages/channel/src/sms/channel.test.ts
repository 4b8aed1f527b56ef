import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startTestSms, type TestSms } from "../../../local/src/sms/testing.ts";
import type { SendRequest } from "../channel.ts";
import { ConfigurationError } from "../errors.ts";
import { type Provider, startProvider } from "../testing/provider.ts";
import { smsChannel } from "./channel.ts";
import { aChannel, aClient, aTextRequest } from "./fixtures.ts";

let sms: TestSms;
let provider: Provider;
let client: ReturnType<typeof aClient>;
let watched: ReturnType<typeof aClient>;
beforeAll(async () => {
  sms = await startTestSms();
  client = aClient(sms.endpoint);
  provider = await startProvider((response) => response.end('{"MessageId":"m-1"}'));
  watched = aClient(provider.origin);
});
beforeEach(() => {
  sms.clear();
  provider.received.length = 0;
});
afterAll(async () => {
  client.destroy();
  watched.destroy();
  await provider.stop();
  await sms.stop();
});

test("the request carries one recipient, the text, the row's id, a time to live and the configuration set", async () => {
  await aChannel(watched).send(aTextRequest({ address: " +43 (664) 123-45.67 " }), {});
  const [request] = provider.received;
  expect(request?.headers["x-amz-target"]).toBe("PinpointSMSVoiceV2.SendTextMessage");
  expect(JSON.parse(request?.body ?? "")).toEqual({
    DestinationPhoneNumber: "+436641234567",
    OriginationIdentity: "pool-1",
    MessageBody: expect.stringContaining("RR123456785AT"),
    MessageType: "TRANSACTIONAL",
    ConfigurationSetName: "owed",
    TimeToLive: 21_600,
    Context: { notification: "0198b1c2-7d3e-7a41-9c55-3f2a1b0c9d8e", "configuration-set": "owed" },
  });
});

test("without a configuration set, none is named; a time to live can be chosen", async () => {
  const options = { client: watched, originationIdentity: "+12065550100", timeoutMs: 5_000 };
  await smsChannel({ ...options, configurationSet: null, timeToLive: 60 }).send(aTextRequest(), {});
  const body = JSON.parse(provider.received[0]?.body ?? "");
  expect(body).not.toHaveProperty("ConfigurationSetName");
  expect(body).toMatchObject({ OriginationIdentity: "+12065550100", TimeToLive: 60 });
  expect(Object.keys(body.Context)).toEqual(["notification"]);
});

test("AWS takes it, and its message id is the provider's", async () => {
  const result = await aChannel(client).send(aTextRequest(), {});
  expect(result).toEqual({
    outcome: "accepted",
    provider: "sms-voice",
    providerMessageId: sms.sent[0]?.messageId,
  });
  expect(sms.sent).toMatchObject([
    { to: "+436641234567", segments: 1, context: { notification: aTextRequest().notificationId } },
  ]);
});

const shipment = aTextRequest().shipment;

test.for<[Partial<Record<keyof SendRequest, unknown>>, string]>([
  [{ address: "" }, "NoAddress: no address"],
  [{ address: null }, "NoAddress: no address"],
  [{ address: "ana.lind@example.org" }, "InvalidAddress: number is not + and digits"],
  [{ address: { length: 3 } }, "InvalidAddress: number is not + and digits"],
  [{ template: "lost_in_space" }, 'NoTemplate: no template "lost_in_space"'],
  [{ notificationId: "" }, "InvalidNotification: notificationId cannot be a context's value"],
  [{ notificationId: "a\n" }, "InvalidNotification: notificationId cannot be a context's value"],
  [{ shipment: { ...shipment, occurredAt: new Date("never") } }, "InvalidShipment: occurredAt is no date"],
  [{ shipment: null }, "Uncomposable: TypeError"],
])("a row with %o is refused: %s", async ([change, reason]) => {
  const result = await aChannel(watched).send({ ...aTextRequest(), ...change } as SendRequest, {});
  expect(result).toEqual({ outcome: "refused", reason, answered: false });
  expect(provider.received, "AWS is not asked").toHaveLength(0);
});

test.for([
  [{ originationIdentity: "" }, /origination identity ""/],
  [{ originationIdentity: "a b" }, /origination identity "a b"/],
  [{ configurationSet: "a b" }, /configuration set "a b"/],
  [{ configurationSet: "" }, /configuration set ""/],
  [{ timeoutMs: 0 }, /timeout must be whole milliseconds above 0, not 0/],
  [{ timeToLive: 4 }, /time to live must be 5 to 259,200 whole seconds, not 4/],
  [{ timeToLive: 259_201 }, /time to live/],
] as const)("a channel with %o is not made", ([change, message]) => {
  const options = { client, originationIdentity: "pool-1", configurationSet: null, timeoutMs: 5_000 };
  const make = () => smsChannel({ ...options, ...change });
  expect(make).toThrow(ConfigurationError);
  expect(make).toThrow(message);
});
