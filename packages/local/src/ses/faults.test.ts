import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
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

const reset = { code: "ECONNRESET" };
const events = (count: number) =>
  vi.waitFor(() => expect(ses.events).toHaveLength(count), { timeout: 10_000, interval: 5 });

test("an error in SES's form, for chosen emails only", async () => {
  ses.faults.add(({ tags }) =>
    tags.notification === "1"
      ? { error: { status: 400, code: "MessageRejected", message: "Email address is not <verified>." } }
      : undefined,
  );
  await expect(ses.send({ Tags: [{ Name: "notification", Value: "1" }] })).rejects.toMatchObject({
    name: "MessageRejected",
    message: "Email address is not <verified>.",
    $metadata: { httpStatusCode: 400 },
  });
  await ses.send({ Tags: [{ Name: "notification", Value: "2" }] });
  expect(ses.sent.map(({ tags }) => tags)).toEqual([{ notification: "2" }]);
});

test("a dropped connection before acceptance leaves no email and no event", async () => {
  const remove = ses.faults.add(() => ({ drop: "before" }));
  await expect(ses.send()).rejects.toMatchObject(reset);
  remove();
  await ses.send();
  await events(1);
  expect(ses.sent).toHaveLength(1);
});

test("a dropped connection after acceptance: the email is sent, the event comes, the client knows nothing", async () => {
  ses.faults.add(() => ({ drop: "after" }));
  await expect(ses.send()).rejects.toMatchObject(reset);
  await events(1);
  expect(ses.sent[0]?.messageId).toBe(ses.events[0]?.detail.mail.messageId);
});

test("a held answer leaves the email sent", async () => {
  const hold = Promise.withResolvers<void>();
  ses.faults.add(() => ({ hold: hold.promise }));
  let answered = false;
  const sending = ses.send().finally(() => {
    answered = true;
  });
  await events(1);
  expect([ses.sent.length, answered]).toEqual([1, false]);
  hold.resolve();
  expect(await sending).toBe(ses.sent[0]?.messageId);
});

test("an event can be late or lost", async () => {
  const hold = Promise.withResolvers<void>();
  const remove = ses.faults.add(() => ({ holdEvent: hold.promise }));
  const late = await ses.send();
  remove();
  const removeLoss = ses.faults.add(() => ({ noEvent: true }));
  await ses.send();
  removeLoss();
  const prompt = await ses.send();
  await events(1);
  hold.resolve();
  await events(2);
  expect(ses.events.map(({ detail }) => detail.mail.messageId)).toEqual([prompt, late]);
  expect(ses.sent).toHaveLength(3);
});

test("a delay comes before everything else", async () => {
  ses.faults.add(() => ({ delay: 30, drop: "before" }));
  const start = performance.now();
  await expect(ses.send()).rejects.toMatchObject(reset);
  expect(performance.now() - start).toBeGreaterThan(28);
});

test("an event that nobody can take is reported and harms no send", async () => {
  const report = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const unlucky = await startTestSes({ onEvent: () => Promise.reject(new Error("no bus")) });
  const messageId = await unlucky.send();
  await vi.waitFor(() => expect(report).toHaveBeenCalledOnce(), { timeout: 10_000, interval: 5 });
  expect(report.mock.calls[0]?.[0]).toContain(messageId);
  report.mockRestore();
  await unlucky.stop();
});

test("an answer that is spoilt on its way, after the email was accepted", async () => {
  const remove = ses.faults.add(() => ({ garble: () => "<html>Bad gateway" }));
  await expect(ses.send()).rejects.toThrow(/XML parse error/);
  remove();
  await events(1);
  expect(ses.sent).toHaveLength(1);
});

test("an error that is spoilt on its way keeps its status", async () => {
  const error = { status: 502, code: "BadGateway", message: "try later" };
  ses.faults.add(() => ({ error, garble: () => "no XML" }));
  await expect(ses.send()).rejects.toMatchObject({ $metadata: { httpStatusCode: 502 } });
  expect(ses.sent).toEqual([]);
});
