import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sesEvent } from "../testing/ses-events.ts";
import { parseFeedback } from "./event.ts";

const id = "0198b1c2-7d3e-7a41-9c55-3f2a1b0c0001";

test.each([
  ["Send", "accepted", null, false],
  ["Delivery", "arrived", null, false],
  ["Bounce", "bounced", "Permanent: General", true],
  ["Complaint", "complained", "complaint: abuse", true],
  ["Reject", "bounced", "rejected: Bad content", false],
  ["DeliveryDelay", "accepted", "delayed: MailboxFull", false],
])("%s says: %s", (eventType, outcome, detail, suppress) => {
  const event = sesEvent(id, { eventType, messageId: "P-1", timestamp: "2026-03-29T09:30:00.123Z" });
  expect(parseFeedback(JSON.stringify(event))).toEqual({
    proof: {
      id,
      at: "2026-03-29T09:30:00.123Z",
      provider: "ses",
      providerMessageId: "P-1",
      outcome,
      detail,
      suppress,
      evidence: "feedback",
    },
  });
});

const ignored = (body: string) => {
  const parsed = parseFeedback(body);
  return "ignored" in parsed ? parsed.ignored : `it is evidence: ${JSON.stringify(parsed)}`;
};

test.each(["Open", "Click", "Rendering Failure", "Subscription", "toString"])(
  "%s says nothing about acceptance",
  (eventType) =>
    expect(ignored(JSON.stringify(sesEvent(id, { eventType })))).toBe(
      `events of the type ${eventType} say nothing about acceptance`,
    ),
);

test.each(["", "__proto__", "ana@example.org", "x".repeat(1e6)])(
  "an unheard-of type is ignored and not quoted (%#)",
  (eventType) =>
    expect(ignored(JSON.stringify(sesEvent(id, { eventType })))).toBe(
      "events of the type (unknown) say nothing about acceptance",
    ),
);

describe("what is foreign or malformed is ignored, and named without a quotation", () => {
  const secret = "ana@example.org";
  test.each([
    ["no JSON", secret, "it is not JSON"],
    ["a text", JSON.stringify(secret), "its body is not that of an SES event"],
    ["null", "null", "its body is not that of an SES event"],
    ["a list", "[]", "its source is not that of an SES event"],
    ["another source", sesEvent(id, { source: secret }), "its source is not that of an SES event"],
    ["no detail", { source: "aws.ses" }, "its detail is not that of an SES event"],
    [
      "another message id",
      sesEvent(id, { messageId: [secret] }),
      "its detail.mail.messageId is not that of an SES event",
    ],
    [
      "no message id",
      sesEvent(id, { messageId: "" }),
      "its detail.mail.messageId is not that of an SES event",
    ],
    ["NUL", sesEvent(id, { messageId: "P\u0000" }), "its detail.mail.messageId is not that of an SES event"],
    [
      "surrogate",
      sesEvent(id, { messageId: "\ud800" }),
      "its detail.mail.messageId is not that of an SES event",
    ],
    [
      "a novel",
      sesEvent(id, { messageId: "P".repeat(257) }),
      "its detail.mail.messageId is not that of an SES event",
    ],
    ["no time", sesEvent(id, { timestamp: secret }), "its detail.mail.timestamp is not that of an SES event"],
    [
      "no such day",
      sesEvent(id, { timestamp: "2026-02-30T10:00:00Z" }),
      "its detail.mail.timestamp is not that of an SES event",
    ],
    [
      "no such year",
      sesEvent(id, { timestamp: "0000-01-01T10:00:00Z" }),
      "its detail.mail.timestamp is not that of an SES event",
    ],
    [
      "no such offset",
      sesEvent(id, { timestamp: "2026-02-03T10:00:00+23:59" }),
      "its detail.mail.timestamp is not that of an SES event",
    ],
    [
      "a text as tag",
      sesEvent(id, { tags: { notification: id } }),
      "its detail.mail.tags.notification is not that of an SES event",
    ],
    [
      "a number as tag",
      sesEvent(id, { tags: { notification: [7] } }),
      "its detail.mail.tags.notification.0 is not that of an SES event",
    ],
  ])("%s", (_, event, reason) => {
    expect(ignored(typeof event === "string" ? event : JSON.stringify(event))).toBe(reason);
  });
});

describe("tags", () => {
  const none = "it has no tag that names a notification";
  test.each([
    ["none at all", undefined, none],
    ["none of ours", { "ses:operation": ["SendEmail"], "ses:source-ip": ["127.0.0.1"] }, none],
    ["no value", { notification: [] }, none],
    ["another system's", { notification: ["1234"] }, none],
    ["SQL", { notification: [`${id}'; DROP TABLE owed.notification; --`] }, none],
    ["NUL", { notification: [`${id}\u0000`] }, none],
    ["in a prototype", JSON.parse(`{"__proto__":{"notification":["${id}"]}}`), none],
  ])("%s: ignored", (_, tags, reason) => {
    expect(ignored(JSON.stringify(sesEvent(id, { tags })))).toBe(reason);
  });

  test("whatever the others hold, ours counts", () => {
    const tags = { notification: [id], "\u0000": 7, constructor: null, campaign: [["deep"]] };
    expect(parseFeedback(JSON.stringify(sesEvent(id, { tags })))).toMatchObject({ proof: { id } });
  });
});

test("any text, and any JSON in any place, has an answer that the ledger can hold and that quotes nobody", () => {
  const value = fc.oneof(fc.jsonValue(), fc.string({ unit: "binary" }), fc.constant("ana@example.org"));
  const found = fc.oneof(
    value,
    fc.record(
      { bounceType: value, bounceSubType: value, bouncedRecipients: value, complaintFeedbackType: value },
      { requiredKeys: [] },
    ),
    fc.record({ complaintSubType: value, reason: value, delayType: value }, { requiredKeys: [] }),
  );
  const type = fc.constantFrom("Bounce", "Complaint", "Reject", "DeliveryDelay", "Delivery", "Send");
  const findings = { bounce: found, complaint: found, reject: found, deliveryDelay: found };
  const body = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.json(),
    fc
      .record(
        { source: value, eventType: value, messageId: value, timestamp: value, tags: value },
        { requiredKeys: [] },
      )
      .map((more) => JSON.stringify(sesEvent(id, more))),
    fc
      .record({ eventType: type, ...findings }, { requiredKeys: ["eventType"] })
      .map((more) => JSON.stringify(sesEvent(id, more))),
  );
  fc.assert(
    fc.property(body, (text) => {
      const parsed = parseFeedback(text);
      if ("proof" in parsed) {
        expect(parsed.proof).toMatchObject({ id, provider: "ses", evidence: "feedback" });
        expect(parsed.proof.detail ?? "code").toMatch(
          /^(?=.{1,60}$)[A-Za-z][A-Za-z0-9_-]*(: [A-Za-z][A-Za-z0-9 _-]*)?$/,
        );
      } else expect(ignored(text).length).toBeLessThan(100);
    }),
    { numRuns: 500 },
  );
});
