import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { SendResult } from "../channel.ts";
import { emailChannel } from "./channel.ts";
import { aClient, aRequest } from "./fixtures.ts";
import { accept, fail, reply, type SesDouble, startSesDouble } from "./ses-double.ts";

let ses: SesDouble;
let client: ReturnType<typeof aClient>;

beforeAll(async () => {
  ses = await startSesDouble();
  client = aClient(ses.endpoint);
});
afterAll(async () => {
  client.destroy();
  await ses.stop();
});
beforeEach(() => {
  ses.received.length = 0;
});

async function send(answer: SesDouble["answer"]): Promise<SendResult> {
  ses.answer = answer;
  const from = "Owed <notify@owed.example>";
  const channel = emailChannel({ client, from, configurationSet: "owed", timeoutMs: 5_000 });
  const result = await channel.send(aRequest(), {});
  expect(ses.received, "one send is one request").toHaveLength(1);
  return result;
}

test("an accepted email has SES's message id", async () => {
  const result = await send(accept("0102-abc"));
  expect(result).toEqual({ outcome: "accepted", provider: "ses", providerMessageId: "0102-abc" });
});

const unverified =
  "Email address is not verified. The following identities failed the check in region EU-CENTRAL-1:";

describe("SES's errors, by code and message", () => {
  type Case = [status: number, code: string, message: string, expected: string];
  const cases: Case[] = [
    [400, "Throttling", "Maximum sending rate exceeded.", "throttled rate"],
    [400, "Throttling", "Daily message quota exceeded.", "throttled quota"],
    [400, "ThrottlingException", "Rate exceeded", "throttled rate"],
    [429, "TooManyRequestsException", "Too many requests", "throttled rate"],
    [400, "MessageRejected", "Address is on the suppression list.", "refused"],
    [400, "MessageRejected", `${unverified} ana.lind@example.org`, "refused"],
    [400, "MessageRejected", `${unverified} notify@owed.example`, "throttled account"],
    [
      400,
      "MessageRejected",
      `${unverified} "Owed" <notify@owed.example>, ana.lind@example.org`,
      "throttled account",
    ],
    [400, "MessageRejected", `${unverified} ANA.LIND@example.org, owed.example...`, "throttled account"],
    [400, "MessageRejected", `${unverified} xnotify@owed.example.org, ana.lind@example.org...`, "refused"],
    [400, "MessageRejected", `${unverified} somebody@else.example`, "throttled account"],
    [
      400,
      "MessageRejected",
      "Sending paused for this account. For more information, see …",
      "throttled account",
    ],
    [400, "MessageRejected", "Account is paused.", "throttled account"],
    [
      400,
      "AccountSendingPausedException",
      "Email sending is disabled for your account.",
      "throttled account",
    ],
    [400, "ConfigurationSetSendingPausedException", "Sending is disabled for owed", "throttled account"],
    [400, "ConfigurationSetDoesNotExist", "Configuration set <owed> does not exist.", "throttled account"],
    [
      400,
      "ConfigurationSetDoesNotExistException",
      "Configuration set <owed> does not exist.",
      "throttled account",
    ],
    [400, "MailFromDomainNotVerifiedException", "Mail-From domain is not verified", "throttled account"],
    [400, "MailFromDomainNotVerified", "Mail-From domain is not verified", "throttled account"],
    [403, "AccessDenied", "User is not authorized to perform ses:SendEmail", "throttled account"],
    [400, "AccessDeniedException", "User is not authorized to perform ses:SendEmail", "throttled account"],
    [
      403,
      "InvalidClientTokenId",
      "The security token included in the request is invalid.",
      "throttled account",
    ],
    [403, "SignatureDoesNotMatch", "The request signature we calculated does not match", "throttled account"],
    [403, "SignatureDoesNotMatch", "Signature expired: 20260312T140500Z is now earlier than …", "transient"],
    [400, "RequestExpired", "Request has expired.", "transient"],
    [403, "ExpiredToken", "The security token included in the request is expired", "throttled account"],
    [400, "InvalidParameterValue", "Domain contains illegal character", "refused"],
    [400, "InvalidParameterCombination", "Both were given", "refused"],
    [404, "MalformedQueryString", "The query string contains a syntax error.", "refused"],
    [
      503,
      "ServiceUnavailable",
      "The request has failed due to a temporary failure of the server.",
      "transient",
    ],
    [500, "InternalFailure", "An internal failure has occurred.", "unknown"],
    [400, "NeverHeardOf", "Something new", "transient"],
    [502, "NeverHeardOf", "Something new", "unknown"],
  ];
  test.for(cases)("%i %s: %s → %s", async ([status, code, message, expected]) => {
    const result = await send(fail(status, code, message));
    const scope = result.outcome === "throttled" ? ` ${result.scope}` : "";
    expect(result.outcome + scope).toBe(expected);
    expect(result).toHaveProperty("reason", expect.stringMatching(new RegExp(`^${code}: \\S`)));
  });
});

test.for([
  [200, "", "an empty body"],
  [200, "<SendEmailResponse><SendEmailResult></SendEmailResult></SendEmailResponse>", "no message id"],
  [
    200,
    "<SendEmailResponse><SendEmailResult><MessageId> </MessageId></SendEmailResult></SendEmailResponse>",
    "a blank id",
  ],
  [200, "\u0000 garbage <<<", "garbage"],
  [200, "<html><body>Sign in<br></body></html>", "a captive portal's page"],
  [
    200,
    "<ErrorResponse><Error><Code>Throttling</Code></Error></ErrorResponse>",
    "an error that calls itself success",
  ],
  [302, "", "a redirect"],
  [403, "<html><h1>Forbidden</h1></html>", "a proxy's refusal"],
  [400, "<<<", "a broken document"],
  [400, "<ErrorResponse><Error><Code>A</Code><Code>B</Code></Error></ErrorResponse>", "two codes"],
  [502, "Bad gateway", "a gateway's error"],
  [503, "upstream connect error or disconnect/reset before headers", "a proxy whose upstream hung up"],
] as const)("an answer that is not SES's own proves nothing: %i %s (%s)", async ([status, body]) => {
  const result = await send(reply(status, body));
  expect(result).toEqual({
    outcome: "unknown",
    reason: expect.stringMatching(`^UnusableAnswer: status ${status}`),
  });
});

test("429 is a throttle, whoever answers it", async () => {
  const result = await send(reply(429, "slow down", { "retry-after": "3" }));
  expect(result).toMatchObject({ outcome: "throttled", scope: "rate", retryAfterSeconds: 3 });
});

test.for([
  [{ "retry-after": "17" }, 17],
  [{ "retry-after": "Thu, 12 Mar 2026 14:06:30 GMT", date: "Thu, 12 Mar 2026 14:05:00 GMT" }, 90],
  [{ "retry-after": "Thu, 12 Mar 2026 14:05:00 GMT", date: "Thu, 12 Mar 2026 14:06:00 GMT" }, 0],
  [{ "retry-after": "99999999999" }, 86_400],
  [{ "retry-after": "-5" }, null],
  [{ "retry-after": "7.5" }, null],
  [{ "retry-after": "soon" }, null],
  [{}, null],
] as const)("Retry-After %o is %s seconds", async ([headers, seconds]) => {
  const result = await send(fail(400, "Throttling", "Maximum sending rate exceeded.", headers));
  expect(result).toMatchObject({ outcome: "throttled", retryAfterSeconds: seconds });
});

test("a server that is unavailable and says until when is obeyed, at no cost of an attempt", async () => {
  const result = await send(fail(503, "ServiceUnavailable", "Busy", { "retry-after": "30" }));
  expect(result).toMatchObject({ outcome: "throttled", scope: "rate", retryAfterSeconds: 30 });
});

test("no address or name of a provider's message is in the reason", async () => {
  const message =
    "Address length is more than 320 characters long: '\"Ana Lind\" <ana.lind@example.org>' =?UTF-8?B?QW5h?=";
  const result = await send(fail(400, "InvalidParameterValue", `${message} ${"and more ".repeat(100)}`));
  const reason = "reason" in result ? result.reason : "";
  expect(reason).toMatch(/^InvalidParameterValue: Address length is more than 320 characters long/);
  expect(reason).not.toMatch(/Ana|Lind|example\.org|QW5h/);
  expect([...reason].length).toBeLessThanOrEqual(200);
});
