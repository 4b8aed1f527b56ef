import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { startTestSms, type TestSms } from "./testing.ts";

let sms: TestSms;
beforeAll(async () => {
  sms = await startTestSms();
});
afterEach(() => {
  sms.faults.clear();
  sms.clear();
  sms.events.length = 0;
  sms.inbound.length = 0;
});
afterAll(() => sms.stop());

const events = (count: number) =>
  vi.waitFor(() => expect(sms.events).toHaveLength(count), { timeout: 10_000, interval: 5 });
const to = (DestinationPhoneNumber: string) => ({ DestinationPhoneNumber });

test("an accepted text is recorded, shown, and told of on the bus", async () => {
  const MessageBody = "Ihr Paket für 10 €";
  const messageId = await sms.send({
    MessageBody,
    Context: { notification: "42" },
    ConfigurationSetName: "owed",
  });
  const common = { messageId, to: "+436641234567", from: "pool-1", text: MessageBody, segments: 1 };
  const at = expect.any(Number);
  expect(sms.sent).toEqual([{ ...common, encoding: "GSM", context: { notification: "42" }, at }]);
  expect(sms.smsRows()).toEqual([{ ...common, notification: "42", at }]);
  expect(sms.smsRows("PAKET")).toHaveLength(1);
  expect(sms.smsRows("nobody")).toEqual([]);
  await events(1);
  expect(sms.events[0]).toMatchObject({
    source: "aws.sms-voice",
    "detail-type": "Text Message Delivery Status Updated",
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    detail: {
      ...{ eventType: "TEXT_PENDING", isFinal: false, messageId, messageStatus: "PENDING" },
      ...{ messageEncoding: "GSM", totalMessageParts: 1, context: { notification: "42" } },
      messageRequestTimestamp: sms.sent[0]?.at,
    },
  });
  expect(sms.events[0]?.detail).not.toHaveProperty("destinationPhoneNumber");
});

test.each<[string, object, string]>([
  ["a number that is none", to("nobody"), "DestinationPhoneNumber"],
  ["a number with a leading zero", to("+0664123"), "DestinationPhoneNumber"],
  ["a text of spaces", { MessageBody: " \n" }, "MessageBody"],
  ["a text of more than 1,600 characters", { MessageBody: "a".repeat(1_601) }, "MessageBody"],
  ["an origination identity with a space", { OriginationIdentity: "a b" }, "OriginationIdentity"],
  ["a configuration set with a space", { ConfigurationSetName: "a b" }, "ConfigurationSetName"],
  ["a message type that is none", { MessageType: "URGENT" }, "MessageType"],
  ["a time to live of 4 seconds", { TimeToLive: 4 }, "TimeToLive"],
  ["a context with six entries", { Context: { a: "1", b: "2", c: "3", d: "4", e: "5", f: "6" } }, "Context"],
  ["a context with a space in its key", { Context: { "a b": "1" } }, "Context"],
  ["a context with an empty value", { Context: { a: "" } }, "Context"],
])("%s is refused as AWS refuses it", async (_, change, field) => {
  await expect(sms.send(change)).rejects.toMatchObject({
    name: "ValidationException",
    Reason: "FIELD_VALIDATION_FAILED",
    Fields: [{ Name: field, Message: expect.any(String) }],
    $metadata: { httpStatusCode: 400 },
  });
  expect(sms.sent).toEqual([]);
});

test.each([
  ["{", "PinpointSMSVoiceV2.SendTextMessage", "SerializationException"],
  ["{}", "PinpointSMSVoiceV2.SendTextMessage", "ValidationException"],
  ['{"DestinationPhoneNumber":7}', "PinpointSMSVoiceV2.SendTextMessage", "SerializationException"],
  ["{}", "PinpointSMSVoiceV2.DescribePools", "UnknownOperationException"],
])("%s to %s is a %s", async (body, target, code) => {
  const answer = await fetch(sms.endpoint, { method: "POST", headers: { "x-amz-target": target }, body });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ __type: `com.amazonaws.pinpointsmsvoicev2#${code}` });
});

test.each([
  ["+436641234567", ["TEXT_PENDING"]],
  ["+43676800442031", ["TEXT_PENDING", "TEXT_SUCCESSFUL", "TEXT_DELIVERED"]],
  ["+43676800442032", ["TEXT_PENDING", "TEXT_CARRIER_UNREACHABLE"]],
])("AWS's simulator numbers have their fate, others none: %s", async (number, types) => {
  await sms.send(to(number));
  await events(types.length);
  expect(sms.events.map(({ detail }) => detail.eventType)).toEqual(types);
  expect(sms.events.map(({ detail }) => detail.isFinal)).toEqual(
    types.map((_, n) => n > 0 && n === types.length - 1),
  );
});

test("who answers STOP gets nothing more, and the answer comes as two-way SMS gives it to SNS", async () => {
  sms.faults.add(() => ({ fate: { kind: "reply", text: "Stop it" } }));
  const previousPublishedMessageId = await sms.send();
  await vi.waitFor(() => expect(sms.inbound).toHaveLength(1), { timeout: 10_000, interval: 5 });
  expect(sms.inbound).toEqual([
    {
      ...{ originationNumber: "+436641234567", destinationNumber: "pool-1" },
      ...{ messageKeyword: "STOP", messageBody: "Stop it", previousPublishedMessageId },
      inboundMessageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    },
  ]);
  await expect(sms.send()).rejects.toMatchObject({
    name: "ConflictException",
    Reason: "DESTINATION_PHONE_NUMBER_OPTED_OUT",
  });
  expect(sms.sent).toHaveLength(1);
});

test("an answer that asks for nothing opts nobody out; nor does AWS where opt-outs are ours", async () => {
  await sms.receive("+436641234567", "Thank you!");
  expect(sms.inbound[0]).toMatchObject({ messageBody: "Thank you!" });
  expect([...sms.optedOut]).toEqual([]);
  const ours = await startTestSms({ selfManagedOptOuts: true });
  await ours.receive("+436641234567", "STOP");
  expect([ours.inbound.length, ours.optedOut.size]).toEqual([1, 0]);
  await ours.stop();
});

test("a number of parts a second, and of parts a month", async () => {
  const strict = await startTestSms({ limits: { partsPerSecond: 2, monthlyParts: null } });
  const two = { MessageBody: "a".repeat(161) };
  await strict.send(two);
  await expect(strict.send(two)).rejects.toMatchObject({ name: "ThrottlingException" });
  strict.limits.partsPerSecond = null;
  strict.limits.monthlyParts = 3;
  await expect(strict.send(two)).rejects.toMatchObject({
    name: "ServiceQuotaExceededException",
    Reason: "MONTHLY_SPEND_LIMIT_REACHED_FOR_TEXT",
  });
  await strict.send();
  expect(strict.sent.map(({ segments }) => segments)).toEqual([2, 1]);
  await strict.stop();
});

test("faults: an error, a lost answer, an event that is lost, one that is late", async () => {
  const hold = Promise.withResolvers<void>();
  const faults = [
    { error: { status: 500, code: "InternalServerException", message: "no" } },
    { drop: "after" },
    { noEvent: true },
    { holdEvent: hold.promise },
  ] as const;
  let sends = 0;
  sms.faults.add(() => faults[sends++]);
  await expect(sms.send()).rejects.toMatchObject({ name: "InternalServerException" });
  await expect(sms.send()).rejects.toMatchObject({ code: "ECONNRESET" });
  await sms.send();
  const late = await sms.send();
  const prompt = await sms.send();
  await events(2);
  hold.resolve();
  await events(3);
  const told = sms.events.map(({ detail }) => detail.messageId);
  expect(told).toEqual([sms.sent[0]?.messageId, prompt, late]);
  expect(sms.sent).toHaveLength(4);
});
