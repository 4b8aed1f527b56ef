import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Mailbox } from "./mailbox.ts";
import { startTestSes, type TestSes } from "./testing.ts";

let ses: TestSes;
beforeAll(async () => {
  ses = await startTestSes();
});
beforeEach(() => ses.clear());
afterAll(() => ses.stop());

const store = async (query = "") => (await fetch(`${ses.endpoint}/store${query}`)).json();

test("the page is served and reads the store", async () => {
  const page = await fetch(ses.mailboxUrl);
  expect(page.headers.get("content-type")).toContain("text/html");
  expect(await page.text()).toContain("fetch('/store");
});

test("the store has the emails whole, and can be searched", async () => {
  const messageId = await ses.send({
    Destination: { ToAddresses: ["Buyer@example.com"] },
    Message: { Subject: { Data: "s" }, Body: { Text: { Data: "t" }, Html: { Data: "<p>h" } } },
    ReplyToAddresses: ["reply@example.com"],
    Tags: [{ Name: "notification", Value: "zz-42" }],
  });
  await ses.send();
  const email = {
    messageId,
    from: "Parcels <parcels@example.com>",
    replyTo: ["reply@example.com"],
    destination: { to: ["Buyer@example.com"], cc: [], bcc: [] },
    subject: "s",
    body: { text: "t", html: "<p>h" },
    tags: { notification: "zz-42" },
    at: expect.any(Number),
  };
  expect(await store("?q=zz-42")).toEqual({ total: 2, matching: 1, others: [], emails: [email] });
  expect(await store()).toMatchObject({ total: 2, matching: 2 });
  expect(await store(`?since=${Math.floor(Date.now() / 1000) + 60}`)).toMatchObject({ matching: 0 });
  ses.clear();
  expect(await store()).toEqual({ total: 0, matching: 0, emails: [], others: [] });
});

test("names are shown, and found, as people read them", async () => {
  const name = "=?UTF-8?B?2YTZitmE2Ykg2K3Yr9in2K8=?= <layla@example.ae>";
  await ses.send({ Destination: { ToAddresses: [name] } });
  for (const query of ["ليلى", "layla@"])
    expect(await store(`?q=${encodeURIComponent(query)}`)).toMatchObject({
      emails: [{ destination: { to: ["ليلى حداد <layla@example.ae>"] } }],
    });
});

const EMAIL = {
  action: "SendEmail",
  source: "a@example.com",
  to: ["b@example.com"],
  cc: [],
  bcc: [],
  replyTo: [],
  subject: "s",
  text: "t",
  html: undefined,
  tags: {},
  configurationSet: undefined,
} as const;

test("memory is bounded: at least `keep` records, and the latest emails whole", () => {
  const mailbox = new Mailbox(1_000);
  const lengths = Array.from({ length: 5_000 }, (_, i) => {
    mailbox.add({ ...EMAIL, messageId: String(i), at: i });
    return mailbox.sent.length;
  });
  expect(Math.min(...lengths.slice(999))).toBe(1_000);
  expect(Math.max(...lengths)).toBeLessThan(1_102);
  expect(mailbox.sent.at(-1)?.messageId).toBe("4999");
  const { total, matching, emails } = mailbox.store();
  expect([total, matching, emails.length, emails.at(-1)?.messageId]).toEqual([5_000, 500, 100, "4999"]);
});
