import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LimitsUnavailable } from "../errors.ts";
import { aClient } from "./fixtures.ts";
import { readEmailLimits } from "./limits.ts";
import { accept, fail, reply, type SesDouble, startSesDouble } from "./ses-double.ts";

let ses: SesDouble;
let client: ReturnType<typeof aClient>;

beforeEach(async () => {
  ses = await startSesDouble();
  client = aClient(ses.endpoint);
});
afterEach(async () => {
  vi.useRealTimers();
  client.destroy();
  await ses.stop();
});

type Quota = { Max24HourSend?: string; MaxSendRate?: string; SentLast24Hours?: string };

/** SES's answer, with these numbers as they stand in it. */
function quota(numbers: Quota) {
  const fields = Object.entries(numbers).map(([name, value]) => `<${name}>${value}</${name}>`);
  return reply(
    200,
    `<GetSendQuotaResponse xmlns="http://ses.amazonaws.com/doc/2010-12-01/"><GetSendQuotaResult>${fields.join("")}` +
      "</GetSendQuotaResult><ResponseMetadata><RequestId>r-1</RequestId></ResponseMetadata></GetSendQuotaResponse>",
  );
}

const usual = { Max24HourSend: "50000.0", MaxSendRate: "14.0", SentLast24Hours: "127.0" };

/** What reading failed with; the test fails if it did not. */
async function failure(options: { signal?: AbortSignal } = {}): Promise<LimitsUnavailable> {
  const error = await readEmailLimits(client, options).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(LimitsUnavailable);
  return error as LimitsUnavailable;
}

test("the account's rate, its daily quota and what is used of it come from GetSendQuota", async () => {
  ses.answer = quota(usual);
  expect(await readEmailLimits(client)).toEqual({ rate: 14, quota: 50_000, used: 127 });
  expect(ses.received.map((request) => request.get("Action"))).toEqual(["GetSendQuota"]);
});

test.for<[string, Quota, object]>([
  ["an unlimited quota is none", { Max24HourSend: "-1.0" }, { rate: 14, quota: null, used: 127 }],
  ["the sandbox's rate", { Max24HourSend: "200", MaxSendRate: "1" }, { rate: 1, quota: 200, used: 127 }],
  ["a fractional rate", { MaxSendRate: "0.25" }, { rate: 0.25, quota: 50_000, used: 127 }],
  ["a number in scientific notation", { Max24HourSend: "1.5E7" }, { rate: 14, quota: 15e6, used: 127 }],
  ["nothing may be sent today", { Max24HourSend: "0.0" }, { rate: 14, quota: 0, used: 127 }],
  ["more was sent than may be", { SentLast24Hours: "50001" }, { rate: 14, quota: 50_000, used: 50_001 }],
])("%s: %o", async ([, change, limits]) => {
  ses.answer = quota({ ...usual, ...change });
  expect(await readEmailLimits(client)).toEqual(limits);
});

test.for<[Quota, string]>([
  [{ ...usual, MaxSendRate: "0" }, "MaxSendRate is 0"],
  [{ ...usual, MaxSendRate: "-1" }, "MaxSendRate is -1"],
  [{ ...usual, MaxSendRate: "NaN" }, "MaxSendRate is NaN"],
  [{ ...usual, MaxSendRate: "Infinity" }, "MaxSendRate is Infinity"],
  [{ ...usual, Max24HourSend: "-2" }, "Max24HourSend is -2"],
  [{ ...usual, SentLast24Hours: "-1" }, "SentLast24Hours is -1"],
  [{ Max24HourSend: "200", MaxSendRate: "1" }, "SentLast24Hours is missing"],
  [{ MaxSendRate: "1", SentLast24Hours: "0" }, "Max24HourSend is missing"],
  [{}, "MaxSendRate is missing"],
])("an answer with %o is not usable: %s", async ([numbers, detail]) => {
  ses.answer = quota(numbers);
  expect((await failure()).message).toContain(`(UnusableAnswer: ${detail})`);
});

test.for<[string, SesDouble["answer"]]>([
  ["another action's document", accept("m-1")],
  ["words for numbers", quota({ ...usual, MaxSendRate: "many" })],
  ["a number and more", quota({ ...usual, MaxSendRate: "14 a second" })],
  ["an empty number", quota({ ...usual, MaxSendRate: "" })],
  ["an empty body", reply(200, "")],
  ["a proxy's page", reply(200, "<html><body>Sign in</body></html>", { "content-type": "text/html" })],
  ["half a document", reply(200, "<GetSendQuotaResponse><GetSendQuotaResult><MaxSend")],
  ["no XML", reply(200, '{"MaxSendRate":14}', { "content-type": "application/json" })],
  ["a socket that drops", (response) => response.destroy()],
])("%s is not usable", async ([, answer]) => {
  ses.answer = answer;
  await failure();
  expect(ses.received, "it is asked once").toHaveLength(1);
});

test("a missing permission is named, and so are both ways out", async () => {
  const role = "arn:aws:sts::123456789012:assumed-role/deliver/deliver";
  ses.answer = fail(403, "AccessDenied", `User: ${role} is not authorized to perform: ses:GetSendQuota`);
  const { message } = await failure();
  expect(message).toContain(`(AccessDenied: User: ${role} is not authorized to perform: ses:GetSendQuota)`);
  expect(message).toContain("permission ses:GetSendQuota");
  expect(message).toContain("setting limits.email.rate");
});

test("a server's error page: its status is named", async () => {
  ses.answer = reply(502, "<html><body>Bad gateway</body></html>");
  expect((await failure()).message).toContain("(UnusableAnswer: status 502)");
  expect(ses.received).toHaveLength(1);
});

test("being throttled is an error, and it is not asked again", async () => {
  ses.answer = fail(400, "Throttling", "Rate exceeded");
  expect((await failure()).message).toContain("(Throttling: Rate exceeded)");
  expect(ses.received).toHaveLength(1);
});

test("nobody listens there", async () => {
  await ses.stop();
  expect((await failure()).message).toContain("ECONNREFUSED");
});

test("a server that never answers is given up after three seconds, and its socket is closed", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const closed = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  ses.answer = (_response, request) => {
    request.socket.once("close", () => closed.resolve());
    asked.resolve();
  };
  let done = false;
  const failed = failure().finally(() => {
    done = true;
  });
  await asked.promise;
  await vi.advanceTimersByTimeAsync(2_999);
  expect(done).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect((await failed).message).toContain("(TimedOut: no answer in 3 s)");
  await closed.promise;
});

test("an answer that stalls is given up as well", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const asked = Promise.withResolvers<void>();
  ses.answer = (response) => {
    response.writeHead(200, { "content-length": "500" });
    response.write("<GetSendQuotaResponse>", () => asked.resolve());
  };
  const failed = failure();
  await asked.promise;
  await vi.advanceTimersByTimeAsync(3_000);
  expect((await failed).message).toContain("(TimedOut: no answer in 3 s)");
});

test("whoever asks may stop: before, and while it waits", async () => {
  expect((await failure({ signal: AbortSignal.abort() })).message).toContain("(Aborted)");
  expect(ses.received, "SES is not asked").toHaveLength(0);
  const abort = new AbortController();
  ses.answer = () => abort.abort();
  expect((await failure({ signal: abort.signal })).message).toContain("(Aborted)");
});
