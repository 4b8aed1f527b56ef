import { GetSendQuotaCommand, SendRawEmailCommand, VerifyEmailIdentityCommand } from "@aws-sdk/client-ses";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { startTestSes, type TestSes } from "./testing.ts";

let ses: TestSes;
beforeAll(async () => {
  ses = await startTestSes();
});
beforeEach(() => {
  ses.clear();
  ses.events.length = 0;
});
afterAll(() => ses.stop());

const to = (...ToAddresses: string[]) => ({ Destination: { ToAddresses } });
const subject = (Data: string) => ({ Message: { Subject: { Data }, Body: { Text: { Data: "text" } } } });
const tag = (Name: string, Value: string) => ({ Tags: [{ Name, Value }] });

test("an accepted email is recorded with all recipients and tags", async () => {
  const before = Date.now();
  const messageId = await ses.send({
    Destination: { ToAddresses: ["a@example.com", "b@example.com"], CcAddresses: ["c@example.com"] },
    Tags: [
      { Name: "notification", Value: "42" },
      { Name: "attempt", Value: "1" },
    ],
  });
  expect(ses.sent).toEqual([
    {
      to: ["a@example.com", "b@example.com", "c@example.com"],
      tags: { notification: "42", attempt: "1" },
      messageId,
      subject: "Held at customs",
      at: expect.any(Number),
    },
  ]);
  expect(ses.sent[0]?.at).toBeGreaterThanOrEqual(before);
});

test("message ids look like those of SES and do not repeat in a later stack", async () => {
  const later = await startTestSes();
  const ids = [await ses.send(), await ses.send(), await later.send()];
  await later.stop();
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{16}-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-000000$/);
  expect(new Set(ids).size).toBe(3);
});

test("the event says what SES says on EventBridge", async () => {
  const messageId = await ses.send({ ConfigurationSetName: "owed", ...tag("notification", "42") });
  await vi.waitFor(() => expect(ses.events).toHaveLength(1), { timeout: 10_000, interval: 5 });
  expect(ses.events[0]).toEqual({
    version: "0",
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    "detail-type": "Email Sent",
    source: "aws.ses",
    account: "000000000000",
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    region: "us-east-1",
    resources: ["arn:aws:ses:us-east-1:000000000000:configuration-set/owed"],
    detail: {
      eventType: "Send",
      mail: {
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        source: "Parcels <parcels@example.com>",
        sendingAccountId: "000000000000",
        messageId,
        destination: ["buyer@example.com"],
        headersTruncated: false,
        headers: [
          { name: "From", value: "Parcels <parcels@example.com>" },
          { name: "To", value: "buyer@example.com" },
          { name: "Subject", value: "Held at customs" },
        ],
        commonHeaders: {
          from: ["Parcels <parcels@example.com>"],
          to: ["buyer@example.com"],
          messageId,
          subject: "Held at customs",
        },
        tags: {
          "ses:operation": ["SendEmail"],
          "ses:configuration-set": ["owed"],
          "ses:source-ip": ["127.0.0.1"],
          "ses:from-domain": ["example.com"],
          "ses:caller-identity": ["local"],
          notification: ["42"],
        },
      },
      send: {},
    },
  });
});

test.each([
  ["a tag value with a space", tag("notification", "a b")],
  ["a tag value with an umlaut", tag("notification", "ü")],
  ["a tag name with a colon", tag("ses:notification", "1")],
  ["a tag value of 257 characters", tag("notification", "x".repeat(257))],
  ["an empty tag value", tag("notification", "")],
  ["a line break in the subject", subject("Held\r\nBcc: everybody@example.com")],
  ["no recipient", to()],
  ["51 recipients", to(...Array.from({ length: 51 }, (_, i) => `a${i}@example.com`))],
  ["a recipient without @", to("nobody")],
  ["a recipient without a domain", to("nobody@")],
  ["a recipient with NUL", to("a\0@example.com")],
  ["a recipient with a line break in the name", to('"A\nBcc: b@example.com" <a@example.com>')],
  ["a space in the local part", to("a b@example.com")],
  ["a domain in Unicode", to("a@bücher.example")],
  ["a control character in the sender", { Source: "a\u0007@example.com" }],
  ["a reply address without @", { ReplyToAddresses: ["nobody"] }],
])("%s is refused", async (_, more) => {
  await expect(ses.send(more)).rejects.toMatchObject({
    name: "InvalidParameterValue",
    $metadata: { httpStatusCode: 400 },
  });
  expect(ses.sent).toEqual([]);
});

test("a name in any script and the longest tag are accepted", async () => {
  await ses.send({ ...to("=?utf-8?B?44GC?= <a@xn--bcher-kva.example>"), ...tag("n", "x".repeat(256)) });
  await ses.send(subject("通関手続き 📦 <&>"));
  expect(ses.sent.map((email) => email.subject)).toEqual(["Held at customs", "通関手続き 📦 <&>"]);
});

test("a raw email is taken by its headers, or by the destinations that are given", async () => {
  const Data = Buffer.from(
    [
      "From: parcels@example.com",
      'To: "Doe, Jane" <jane@example.com>, joe@example.com',
      "Subject: Held at",
      "  customs",
      "X-SES-MESSAGE-TAGS: notification=7",
      "",
      "text",
    ].join("\r\n"),
  );
  await ses.client.send(new SendRawEmailCommand({ RawMessage: { Data } }));
  await ses.client.send(
    new SendRawEmailCommand({ RawMessage: { Data }, Destinations: ["other@example.com"] }),
  );
  expect(ses.sent).toMatchObject([
    {
      to: ['"Doe, Jane" <jane@example.com>', "joe@example.com"],
      subject: "Held at customs",
      tags: { notification: "7" },
    },
    { to: ["other@example.com"] },
  ]);
});

test("an action that is not there gets an error, not a hang", async () => {
  await expect(
    ses.client.send(new VerifyEmailIdentityCommand({ EmailAddress: "a@example.com" })),
  ).rejects.toMatchObject({ name: "InvalidAction" });
  const answer = await fetch(`${ses.endpoint}/v2/email/outbound-emails`, { method: "POST" });
  expect(answer.status).toBe(404);
});

test("the quota is counted, and enforced when told to", async () => {
  const strict = await startTestSes({ quota: { max24HourSend: 3, maxSendRate: 2 } });
  const quota = async () => {
    const { $metadata: _, ...counted } = await strict.client.send(new GetSendQuotaCommand({}));
    return counted;
  };
  await strict.send(to("a@example.com", "b@example.com"));
  expect(await quota()).toEqual({ Max24HourSend: 3, MaxSendRate: 2, SentLast24Hours: 2 });
  strict.quota.enforced = true;
  await expect(strict.send(to("a@example.com", "b@example.com"))).rejects.toMatchObject({
    name: "Throttling",
    message: "Daily message quota exceeded.",
  });
  strict.quota.max24HourSend = 10;
  await strict.send(to("a@example.com", "b@example.com"));
  await expect(strict.send(to("a@example.com", "b@example.com"))).rejects.toMatchObject({
    name: "Throttling",
    message: "Maximum sending rate exceeded.",
  });
  expect((await quota()).SentLast24Hours).toBe(4);
  await strict.stop();
});
