import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { SmsFault } from "../../../local/src/sms/faults.ts";
import { startTestSms, type TestSms } from "../../../local/src/sms/testing.ts";
import type { SendRequest, SendResult } from "../channel.ts";
import { aChannel, aClient, aTextRequest } from "./fixtures.ts";

let sms: TestSms;
let client: ReturnType<typeof aClient>;
beforeAll(async () => {
  sms = await startTestSms();
  client = aClient(sms.endpoint);
});
afterEach(() => {
  sms.faults.clear();
  sms.clear();
});
afterAll(async () => {
  client.destroy();
  await sms.stop();
});

async function send(fault: SmsFault = {}, change: Partial<SendRequest> = {}): Promise<SendResult> {
  let asked = 0;
  const remove = sms.faults.add(() => {
    asked += 1;
    return fault;
  });
  const result = await aChannel(client).send(aTextRequest(change), {});
  remove();
  expect(asked, "one send is one request").toBe(1);
  return result;
}

const failing = (
  code: string,
  reason: string,
  message = "No.",
  { status = 400, fields = [] as string[], headers = {} } = {},
) =>
  send({
    error: {
      ...{ status, code, reason, message, headers },
      fields: fields.map((Name) => ({ Name, Message: "Member must satisfy constraint" })),
    },
  });

describe("the errors of SendTextMessage, by code and reason", () => {
  type Case = [code: string, reason: string, expected: string];
  const cases: Case[] = [
    ["ThrottlingException", "", "throttled rate"],
    ["ServiceQuotaExceededException", "MONTHLY_SPEND_LIMIT_REACHED_FOR_TEXT", "throttled quota"],
    ["ServiceQuotaExceededException", "", "throttled quota"],
    ["AccessDeniedException", "ACCOUNT_DISABLED", "throttled account"],
    ["AccessDeniedException", "INSUFFICIENT_ACCOUNT_REPUTATION", "throttled account"],
    ["AccessDeniedException", "", "throttled account"],
    ["ResourceNotFoundException", "", "throttled account"],
    ["ConflictException", "RESOURCE_NOT_ACTIVE", "throttled account"],
    ["ConflictException", "MESSAGE_TYPE_MISMATCH", "throttled account"],
    ["ConflictException", "NUMBER_CAPABILITIES_MISMATCH", "throttled account"],
    ["ConflictException", "", "throttled account"],
    ["ConflictException", "NO_ORIGINATION_IDENTITIES_FOUND", "throttled recipient"],
    ["ConflictException", "DESTINATION_PHONE_NUMBER_NOT_VERIFIED", "refused"],
    ["ConflictException", "DESTINATION_COUNTRY_BLOCKED_BY_PROTECT_CONFIGURATION", "refused"],
    ["ConflictException", "DESTINATION_PHONE_NUMBER_BLOCKED_BY_PROTECT_NUMBER_OVERRIDE", "refused"],
    ["ValidationException", "DESTINATION_COUNTRY_BLOCKED", "refused"],
    ["ValidationException", "COUNTRY_NOT_ENABLED", "refused"],
    ["ValidationException", "INTERNATIONAL_SENDING_NOT_SUPPORTED", "refused"],
    ["ValidationException", "INVALID_IDENTITY_FOR_DESTINATION_COUNTRY", "refused"],
    ["ValidationException", "SENDER_ID_NOT_REGISTERED", "refused"],
    ["ValidationException", "PRICE_OVER_THRESHOLD", "refused"],
    ["ValidationException", "INVALID_PARAMETER", "refused"],
    ["ValidationException", "", "refused"],
    ["ValidationException", "CHANNEL_NOT_ENABLED", "throttled account"],
    ["ValidationException", "RESOURCE_NOT_ACCESSIBLE", "throttled account"],
    ["ValidationException", "INVALID_ARN", "throttled account"],
    ["ValidationException", "NEVER_HEARD_OF", "throttled account"],
    ["UnrecognizedClientException", "", "throttled account"],
    ["ExpiredTokenException", "", "throttled account"],
    ["NeverHeardOf", "", "transient"],
  ];
  test.for(cases)("%s %s → %s", async ([code, reason, expected]) => {
    const result = await failing(code, reason);
    const scope = result.outcome === "throttled" ? ` ${result.scope}` : "";
    expect(result.outcome + scope).toBe(expected);
    expect(result).toMatchObject({ reason: reason ? `${code}: ${reason}: No.` : `${code}: No.` });
  });

  test.for<[field: string, expected: string]>([
    ["DestinationPhoneNumber", "refused"],
    ["MessageBody", "refused"],
    ["messageBody", "refused"],
    ["Context", "refused"],
    ["OriginationIdentity", "throttled"],
    ["ConfigurationSetName", "throttled"],
    ["TimeToLive", "throttled"],
  ])("a field that is not valid, %s: %s", async ([field, expected]) => {
    const result = await failing("ValidationException", "FIELD_VALIDATION_FAILED", "No.", {
      fields: [field],
    });
    expect(result).toMatchObject({
      outcome: expected,
      reason: `ValidationException: FIELD_VALIDATION_FAILED ${field}: No.`,
    });
  });

  test.for<[status: number, code: string, outcome: string]>([
    [500, "InternalServerException", "unknown"],
    [503, "ServiceUnavailable", "transient"],
    [502, "NeverHeardOf", "unknown"],
    [429, "TooManyRequestsException", "throttled"],
  ])("%i %s → %s", async ([status, code, outcome]) => {
    expect(await failing(code, "", "No.", { status })).toMatchObject({ outcome, reason: `${code}: No.` });
  });
});

test("a number that has opted out is refused, with a code word of our own", async () => {
  sms.optedOut.add("+436641234567");
  const reason = "OptedOut: the recipient has opted out of our texts";
  expect(await send()).toEqual({ outcome: "refused", answered: true, reason });
});

test("the account's limits: parts a second, and the month's spend", async () => {
  sms.limits.partsPerSecond = 0;
  expect(await send()).toMatchObject({ outcome: "throttled", scope: "rate" });
  sms.limits.partsPerSecond = null;
  sms.limits.monthlyParts = 0;
  expect(await send()).toMatchObject({ outcome: "throttled", scope: "quota" });
  sms.limits.monthlyParts = null;
});

test("a server that says when to come back is obeyed, at no cost of an attempt", async () => {
  const headers = { "retry-after": "30" };
  for (const [status, code] of [
    [400, "ThrottlingException"],
    [503, "ServiceUnavailable"],
  ] as const)
    expect(await failing(code, "", "Busy", { status, headers })).toMatchObject({
      outcome: "throttled",
      scope: "rate",
      retryAfterSeconds: 30,
    });
});

test.for<[status: number, body: string]>([
  [200, ""],
  [200, "{}"],
  [200, '{"MessageId":""}'],
  [200, '{"MessageId":"m 1"}'],
  [200, '{"MessageId":7}'],
  [200, "null"],
  [200, "<html><body>Sign in</body></html>"],
  [302, ""],
  [403, "<html><h1>Forbidden</h1></html>"],
  [400, "{"],
  [400, '{"message":"no type"}'],
  [502, "Bad gateway"],
  [503, "upstream connect error or disconnect/reset before headers"],
])("an answer that is not AWS's own proves nothing: %i %s", async ([status, body]) => {
  const error = { status, code: "X", message: "" };
  const result = await send({ error, garble: () => body });
  expect(result).toEqual({
    outcome: "unknown",
    reason: expect.stringMatching(`^UnusableAnswer: status ${status}`),
  });
});

test("429 is a throttle, whoever answers it", async () => {
  const error = { status: 429, code: "X", message: "", headers: { "retry-after": "3" } };
  const result = await send({ error, garble: () => "slow down" });
  expect(result).toMatchObject({ outcome: "throttled", scope: "rate", retryAfterSeconds: 3 });
});

test("no number, address or name of AWS's message is in the reason", async () => {
  const message = `Ana Lind <ana@example.org> at +436641234567 or 00436641234567: ${"and more ".repeat(100)}`;
  const result = await failing("ValidationException", "", message);
  const reason = "reason" in result ? result.reason : "";
  expect(reason).toMatch(
    /^ValidationException: \[name\] <\[address\]> at \[number\] or \[number\]: and more/,
  );
  expect([...reason].length).toBeLessThanOrEqual(200);
});
