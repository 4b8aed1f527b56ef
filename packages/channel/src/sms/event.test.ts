import fc from "fast-check";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { anyValue, isPlainReason, mutated, tally } from "../../../../tests/hostile/arbitraries.ts";
import type { FailureType, SmsFate } from "../../../local/src/sms/fate.ts";
import { startTestSms, type TestSms } from "../../../local/src/sms/testing.ts";
import { parseSmsEvent } from "./event.ts";

const id = "0198b1c2-7d3e-7a41-9c55-3f2a1b0c9d8e";
const messageId = "862a8790-60c0-4430-9b2b-658bdexample";

const detail = (change: object = {}) => ({
  eventType: "TEXT_DELIVERED",
  eventVersion: "1.0",
  eventTimestamp: 1_686_975_103_470,
  isFinal: true,
  originationPhoneNumber: "+12065550152",
  destinationPhoneNumber: "+14255550156",
  messageId,
  messageRequestTimestamp: 1_686_975_103_170,
  messageEncoding: "GSM",
  messageType: "TRANSACTIONAL",
  messageStatus: "DELIVERED",
  messageStatusDescription: "Message to +14255550156 has been accepted by phone",
  context: { notification: id },
  totalMessageParts: 1,
  totalMessagePrice: 0.09582,
  totalCarrierFee: 0.0,
  ...change,
});
const onBus = (of: object) => ({
  version: "0",
  "detail-type": "Text Message Delivery Status Updated",
  source: "aws.sms-voice",
  detail: of,
});
const proof = {
  ...{ id, at: "2023-06-17T04:11:43.170Z", provider: "sms-voice", providerMessageId: messageId },
  ...{ outcome: "arrived", detail: null, suppress: false },
};

test("an event is the same evidence by the bus and by a configuration set's SNS topic, raw or in its envelope", () => {
  const envelope = { Type: "Notification", TopicArn: "arn:aws:sns:…", Message: JSON.stringify(detail()) };
  for (const event of [onBus(detail()), detail(), envelope]) expect(parseSmsEvent(event)).toEqual({ proof });
});

test.for<[type: string, isFinal: boolean, outcome: string, detail: string | null, suppress: boolean]>([
  ["TEXT_QUEUED", false, "accepted", null, false],
  ["TEXT_PENDING", false, "accepted", null, false],
  ["TEXT_SENT", false, "accepted", null, false],
  ["TEXT_SUCCESSFUL", false, "accepted", null, false],
  ["TEXT_UNKNOWN", false, "accepted", null, false],
  ["TEXT_SUCCESSFUL", true, "arrived", "SUCCESSFUL: the carrier took it", false],
  ["TEXT_DELIVERED", true, "arrived", null, false],
  ["TEXT_DELIVERED", false, "arrived", null, false],
  ["TEXT_INVALID", true, "bounced", "INVALID: no such number", true],
  ["TEXT_BLOCKED", true, "bounced", "BLOCKED: by the recipient or carrier", true],
  ["TEXT_BLOCKED", false, "accepted", "delayed: BLOCKED", false],
  ["TEXT_CARRIER_BLOCKED", true, "bounced", "CARRIER_BLOCKED: for its content", false],
  ["TEXT_SPAM", true, "bounced", "SPAM: the carrier took it for that", false],
  ["TEXT_INVALID_MESSAGE", true, "bounced", "INVALID_MESSAGE: the text was not taken", false],
  ["TEXT_PROTECT_BLOCKED", true, "bounced", "PROTECT_BLOCKED: by our own configuration", false],
  ["TEXT_TTL_EXPIRED", true, "bounced", "TTL_EXPIRED: not sent in time", false],
  ["TEXT_UNREACHABLE", true, "bounced", "UNREACHABLE: the phone is off or out of reach", false],
  ["TEXT_UNREACHABLE", false, "accepted", "delayed: UNREACHABLE", false],
  ["TEXT_CARRIER_UNREACHABLE", true, "bounced", "CARRIER_UNREACHABLE: trouble in its network", false],
  ["TEXT_UNKNOWN", true, "accepted", "UNKNOWN: no news of the delivery", false],
])("%s, final %s: %s", ([eventType, isFinal, outcome, said, suppress]) => {
  const parsed = parseSmsEvent(onBus(detail({ eventType, isFinal })));
  expect(parsed).toEqual({ proof: { ...proof, outcome, detail: said, suppress } });
});

test.for<[event: unknown, ignored: string]>([
  [null, "it is no object"],
  ["{}", "it is no object"],
  [{ ...onBus(detail()), source: "aws.ses" }, "its source is not that of a text message's event"],
  [onBus([]), "events of the type (unknown) say nothing about acceptance"],
  [
    onBus(detail({ eventType: "VOICE_COMPLETED" })),
    "events of the type VOICE_COMPLETED say nothing about acceptance",
  ],
  [onBus(detail({ eventType: "+14255550156" })), "events of the type (unknown) say nothing about acceptance"],
  [onBus(detail({ eventType: "__proto__" })), "events of the type (unknown) say nothing about acceptance"],
  [onBus(detail({ context: undefined })), "it has no context that names a notification"],
  [onBus(detail({ context: { notification: "7" } })), "it has no context that names a notification"],
  [onBus(detail({ messageId: "m 1" })), "its messageId is not that of a text message's event"],
  ...[undefined, "2023", -1, 1e300, Number.NaN].map((messageRequestTimestamp): [unknown, string] => [
    onBus(detail({ messageRequestTimestamp })),
    "its messageRequestTimestamp is not that of a text message's event",
  ]),
])("%j is ignored: %s", ([event, ignored]) => {
  expect(parseSmsEvent(event)).toEqual({ ignored });
});

test("whatever comes, it is evidence that the ledger can hold, or ignored without a word of it", () => {
  const seen = tally("proof", "ignored");
  fc.assert(
    fc.property(
      fc.oneof({ weight: 4, arbitrary: mutated(fc.constant(onBus(detail()))) }, anyValue),
      (event) => {
        const parsed = parseSmsEvent(event);
        seen.count("proof" in parsed ? "proof" : "ignored");
        if ("proof" in parsed) {
          expect(parsed.proof.providerMessageId).toMatch(/^[!-~]{1,256}$/);
          expect(Date.parse(parsed.proof.at)).toBeGreaterThanOrEqual(0);
          expect(parsed.proof.detail ?? "A: b").toMatch(/^[A-Za-z_]+: [ -~]{1,50}$/);
        } else expect(isPlainReason(parsed.ignored, 90)).toBe(true);
      },
    ),
    { numRuns: 800 },
  );
  expect(seen.rarest(), JSON.stringify(seen.reached)).toBeGreaterThan(50);
});

let sms: TestSms;
beforeAll(async () => {
  sms = await startTestSms();
});
afterEach(() => sms.faults.clear());
afterAll(() => sms.stop());

const failures: FailureType[] = ["TEXT_INVALID", "TEXT_UNKNOWN"];
test.for<[SmsFate, string[]]>([
  [{ kind: "arrive" }, ["accepted", "accepted", "arrived"]],
  [{ kind: "arrive", receipt: false }, ["accepted", "arrived"]],
  [{ kind: "delay", arrives: true }, ["accepted", "accepted", "accepted", "arrived"]],
  ...failures.map((type): [SmsFate, string[]] => [
    { kind: "fail", type },
    ["accepted", type === "TEXT_UNKNOWN" ? "accepted" : "bounced"],
  ]),
])("the local provider's events are understood: %j", async ([fate, outcomes]) => {
  sms.events.length = 0;
  sms.faults.add(() => ({ fate }));
  const providerMessageId = await sms.send({ Context: { notification: id } });
  await vi.waitFor(() => expect(sms.events).toHaveLength(outcomes.length), { timeout: 10_000, interval: 5 });
  const parsed = sms.events.map(parseSmsEvent);
  expect(parsed).toMatchObject(outcomes.map((outcome) => ({ proof: { id, providerMessageId, outcome } })));
});
