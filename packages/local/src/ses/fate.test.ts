import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import type { Fate } from "./fate.ts";
import { startTestSes, type TestSes } from "./testing.ts";

let ses: TestSes;
beforeAll(async () => {
  ses = await startTestSes();
});
afterEach(() => {
  ses.faults.clear();
  ses.clear();
  ses.events.length = 0;
});
afterAll(() => ses.stop());

const to = (...ToAddresses: string[]) => ({ Destination: { ToAddresses } });
const happened = (count: number) =>
  vi.waitFor(() => expect(ses.events).toHaveLength(count), { timeout: 10_000, interval: 5 });
const types = () => ses.events.map(({ detail }) => detail.eventType);
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const feedbackId = expect.stringMatching(/^0100[0-9a-f]{12}-[0-9a-f-]{36}-000000$/);
const whom = "buyer@example.com";

test.each<[Fate, string[]]>([
  [{ kind: "arrive" }, ["Send", "Delivery"]],
  [{ kind: "bounce" }, ["Send", "Bounce"]],
  [{ kind: "bounce", late: true }, ["Send", "Delivery", "Bounce"]],
  [{ kind: "answer" }, ["Send", "Delivery", "Bounce"]],
  [{ kind: "complain" }, ["Send", "Delivery", "Complaint"]],
  [{ kind: "delay" }, ["Send", "DeliveryDelay"]],
  [{ kind: "delay", arrives: true }, ["Send", "DeliveryDelay", "Delivery"]],
  [{ kind: "reject" }, ["Send", "Reject"]],
])("%j: its events come in order, all about the email", async (fate, expected) => {
  ses.faults.add(() => ({ fate }));
  const messageId = await ses.send({ Tags: [{ Name: "notification", Value: "42" }] });
  await happened(expected.length);
  expect(types()).toEqual(expected);
  for (const { source, detail } of ses.events) {
    expect(source).toBe("aws.ses");
    expect(detail.mail).toEqual(ses.events[0]?.detail.mail);
    expect(detail.mail).toMatchObject({ messageId, tags: { notification: ["42"] } });
  }
  expect(new Set(ses.events.map(({ id }) => id)).size).toBe(expected.length);
});

test.each<[Fate, string, object]>([
  [
    { kind: "arrive" },
    "Email Delivered",
    {
      delivery: {
        timestamp: time,
        processingTimeMillis: expect.any(Number),
        recipients: [whom],
        smtpResponse: expect.stringMatching(/^250 /),
        reportingMTA: expect.any(String),
      },
    },
  ],
  [
    { kind: "bounce", subType: "NoEmail" },
    "Email Bounced",
    {
      bounce: {
        bounceType: "Permanent",
        bounceSubType: "NoEmail",
        bouncedRecipients: [
          {
            ...{ emailAddress: whom, action: "failed", status: "5.1.1" },
            diagnosticCode: `smtp; 550 5.1.1 user unknown: <${whom}>`,
          },
        ],
        timestamp: time,
        feedbackId,
        reportingMTA: expect.stringMatching(/^dsn; /),
      },
    },
  ],
  [
    { kind: "bounce", type: "Transient", subType: "MailboxFull" },
    "Email Bounced",
    {
      bounce: {
        bounceType: "Transient",
        bounceSubType: "MailboxFull",
        bouncedRecipients: [{ status: "4.2.2" }],
      },
    },
  ],
  [
    { kind: "bounce", type: "Undetermined" },
    "Email Bounced",
    { bounce: { bounceType: "Undetermined", bounceSubType: "Undetermined" } },
  ],
  [
    { kind: "answer" },
    "Email Bounced",
    {
      bounce: {
        ...{ bounceType: "Transient", bounceSubType: "General", timestamp: time, feedbackId },
        bouncedRecipients: [{ emailAddress: whom }],
      },
    },
  ],
  [
    { kind: "answer", type: "Undetermined" },
    "Email Bounced",
    { bounce: { bounceType: "Undetermined", bounceSubType: "Undetermined", bouncedRecipients: [] } },
  ],
  [
    { kind: "complain", type: "not-spam" },
    "Email Complaint Received",
    {
      complaint: {
        ...{ complainedRecipients: [{ emailAddress: whom }], timestamp: time, feedbackId },
        ...{ complaintSubType: null, complaintFeedbackType: "not-spam", arrivalDate: time },
      },
    },
  ],
  [
    { kind: "complain", type: null, subType: "OnAccountSuppressionList" },
    "Email Complaint Received",
    { complaint: { complaintSubType: "OnAccountSuppressionList" } },
  ],
  [
    { kind: "delay", type: "TransientCommunicationFailure" },
    "Email Delivery Delayed",
    {
      deliveryDelay: {
        ...{ timestamp: time, delayType: "TransientCommunicationFailure", expirationTime: time },
        delayedRecipients: [{ emailAddress: whom, status: "4.2.2" }],
      },
    },
  ],
  [{ kind: "reject" }, "Email Rejected", { reject: { reason: "Bad content" } }],
])("%j says: %s", async (fate, detailType, said) => {
  ses.faults.add(() => ({ fate }));
  await ses.send(to(`Buyer <${whom}>`));
  await vi.waitFor(() => expect(ses.events.at(-1)?.["detail-type"]).toBe(detailType), {
    timeout: 10_000,
    interval: 5,
  });
  expect(ses.events.at(-1)?.detail).toMatchObject(said);
  // Without a report SES has nothing of it.
  if (fate.kind === "answer") expect(JSON.stringify(ses.events.at(-1))).not.toMatch(/"action"|reportingMTA/);
  if (fate.kind === "complain" && !fate.type)
    expect(JSON.stringify(ses.events.at(-1))).not.toContain("complaintFeedbackType");
});

test.each([
  ["success", ["Send", "Delivery"], undefined],
  ["bounce", ["Send", "Bounce"], "General"],
  ["ooto", ["Send", "Delivery", "Bounce"], "General"],
  ["complaint", ["Send", "Delivery", "Complaint"], undefined],
  ["suppressionlist", ["Send", "Bounce"], "Suppressed"],
  ["nobody", ["Send"], undefined],
])("the mailbox simulator answers for %s", async (name, expected, subType) => {
  await ses.send(to(`${name}@simulator.amazonses.com`));
  await ses.send(to(`"A" <${name.toUpperCase()}+label-1@simulator.amazonses.com>`));
  await happened(2 * expected.length);
  expect(types().toSorted()).toEqual([...expected, ...expected].toSorted());
  const bounces = ses.events.flatMap(({ detail }) => ("bounce" in detail ? [detail.bounce] : []));
  for (const bounce of bounces) expect(bounce).toMatchObject({ bounceSubType: subType });
});

test("what only looks like the simulator is none", async () => {
  await ses.send(
    to("bounce@simulator.amazonses.com.example", "bounce@example.com", "x.bounce@simulator.amazonses.com"),
  );
  await ses.send(to("success@simulator.amazonses.com"));
  await happened(3);
  expect(types().toSorted()).toEqual(["Delivery", "Send", "Send"]);
});

test("a given fate goes before the simulator's; the news can be held, or lost", async () => {
  const hold = Promise.withResolvers<void>();
  const remove = ses.faults.add(() => ({ fate: { kind: "arrive" }, holdFate: hold.promise }));
  await ses.send(to("bounce@simulator.amazonses.com"));
  remove();
  const lose = ses.faults.add(() => ({ fate: { kind: "bounce" }, noEvent: true }));
  await ses.send();
  lose();
  await ses.send(to("complaint@simulator.amazonses.com"));
  await happened(4);
  expect(types()).toEqual(["Send", "Send", "Delivery", "Complaint"]);
  hold.resolve();
  await happened(5);
  expect(types().at(-1)).toBe("Delivery");
});
