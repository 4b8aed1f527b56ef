import { describe, expect, test } from "vitest";
import { answerOf, bounceOf, complaintOf, recipient, sesEvent } from "../testing/ses-events.ts";
import { parseFeedback } from "./event.ts";

const id = "0198b1c2-7d3e-7a41-9c55-3f2a1b0c0001";

/** What is said of an event: outcome, detail, and whether the address is not to be written to any more. */
const verdict = (eventType: string, more: Record<string, unknown> = {}) => {
  const parsed = parseFeedback(JSON.stringify(sesEvent(id, { eventType, ...more })));
  if (!("proof" in parsed)) throw new Error(`it is no evidence: ${JSON.stringify(parsed)}`);
  const { outcome, detail, suppress } = parsed.proof;
  return [outcome, detail, suppress];
};

describe("bounces", () => {
  test.each(["General", "NoEmail", "Suppressed", "OnAccountSuppressionList", "UnheardOf"])(
    "Permanent, %s: bounced, and the address is written off",
    (subType) =>
      expect(verdict("Bounce", { bounce: bounceOf("Permanent", subType) })).toEqual([
        ...["bounced", `Permanent: ${subType}`],
        true,
      ]),
  );

  test.each(["MailboxFull", "MessageTooLarge", "ContentRejected", "AttachmentRejected", "UnheardOf"])(
    "Transient, %s: bounced, with or without a report, and it may arrive another time",
    (subType) => {
      const said = ["bounced", `Transient: ${subType}`, false];
      expect(verdict("Bounce", { bounce: bounceOf("Transient", subType) })).toEqual(said);
      expect(verdict("Bounce", { bounce: answerOf("Transient", subType) })).toEqual(said);
    },
  );

  test.each([
    ["Transient", "General"],
    ["Undetermined", "Undetermined"],
  ])("%s: bounced when a delivery report says so", (type, subType) => {
    const said = ["bounced", `${type}: ${subType}`, false];
    expect(verdict("Bounce", { bounce: bounceOf(type, subType) })).toEqual(said);
  });

  test.each([
    ["Transient", "General", undefined],
    ["Transient", "General", [{ emailAddress: recipient, action: "delayed", status: "4.4.7" }]],
    ["Undetermined", "Undetermined", []],
    ["Undetermined", "Undetermined", [{ emailAddress: recipient }]],
  ])("%s without a report of a failure (%#) is an automatic answer: no less arrived", (type, subType, whom) =>
    expect(verdict("Bounce", { bounce: answerOf(type, subType, whom) })).toEqual([
      ...["accepted", `${type}: ${subType}`],
      false,
    ]),
  );
});

test.each([
  ["abuse", null, "complaint: abuse", true],
  ["auth-failure", null, "complaint: auth-failure", true],
  ["fraud", null, "complaint: fraud", true],
  ["other", null, "complaint: other", true],
  ["virus", null, "complaint: virus", true],
  ["not-spam", null, "complaint: not-spam", false],
  [null, null, "complaint", true],
  [null, "OnAccountSuppressionList", "complaint: OnAccountSuppressionList", true],
  ["abuse", "OnAccountSuppressionList", "complaint: abuse OnAccountSuppressionList", true],
])("a complaint of the types %s and %s", (type, subType, detail, suppress) =>
  expect(verdict("Complaint", { complaint: complaintOf(type, subType) })).toEqual([
    ...["complained", detail],
    suppress,
  ]),
);

describe("findings that are missing or hostile: the event is evidence all the same, and is not quoted", () => {
  const hostile = [
    undefined,
    null,
    7,
    "ana@example.org",
    [],
    {},
    ["Permanent"],
    { bounceType: ["Permanent"], complaintFeedbackType: {}, reason: 7, delayType: null },
    ...[
      "ana@example.org",
      "x".repeat(41),
      "",
      " x",
      "-x",
      "a\nb",
      "a\u0000",
      "\ud800",
      "ü",
      "<b>",
      "a: b",
    ].map((text) => ({
      ...{ bounceType: text, bounceSubType: text, bouncedRecipients: text },
      ...{ complaintFeedbackType: text, complaintSubType: text, reason: text, delayType: text },
    })),
  ];
  test.each(hostile)("%#: %j", (findings) => {
    expect(verdict("Bounce", { bounce: findings })).toEqual(["bounced", "bounce", false]);
    expect(verdict("Complaint", { complaint: findings })).toEqual(["complained", "complaint", true]);
    expect(verdict("Reject", { reject: findings })).toEqual(["bounced", "rejected", false]);
    expect(verdict("DeliveryDelay", { deliveryDelay: findings })).toEqual(["accepted", "delayed", false]);
    expect(verdict("Send", { send: findings })).toEqual(["accepted", null, false]);
    expect(verdict("Delivery", { delivery: findings })).toEqual(["arrived", null, false]);
  });

  test("a type that is known and a subtype that is not", () =>
    expect(verdict("Bounce", { bounce: bounceOf("Permanent", "ana@example.org") })).toEqual([
      ...["bounced", "Permanent"],
      true,
    ]));

  test("a type that SES does not have suppresses nobody", () =>
    expect(verdict("Bounce", { bounce: bounceOf("permanent", "General") })).toEqual([
      ...["bounced", "bounce: General"],
      false,
    ]));

  test("recipients of any shape are passed over", () => {
    const whom = [null, 7, "failed", { action: 7 }, { action: "failed" }];
    expect(verdict("Bounce", { bounce: answerOf("Transient", "General", whom) })[0]).toBe("bounced");
    expect(verdict("Bounce", { bounce: answerOf("Transient", "General", whom.slice(0, 4)) })[0]).toBe(
      "accepted",
    );
  });
});
