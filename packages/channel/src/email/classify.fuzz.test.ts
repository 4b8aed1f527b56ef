import { SESServiceException } from "@aws-sdk/client-ses";
import fc from "fast-check";
import { expect, test } from "vitest";
import { anyText, anyValue, cost, longTexts, tally } from "../../../../tests/hostile/arbitraries.ts";
import { StoppedError } from "../http/bounded.ts";
import { Flight } from "../http/flight.ts";
import { retryAfterSeconds } from "../http/retry-after.ts";
import { classify } from "./classify.ts";
import { verdictOf } from "./verdicts.ts";

const person = { to: "ana.lind@example.org", from: "notify@owed.example", name: "Ana Lind" };
const personal = /ana\.lind|Ana Lind|eve@example/i;

const seen = tally(
  "refused",
  "throttled rate",
  "throttled quota",
  "throttled account",
  "transient",
  "unknown",
);

const codes = [
  "Throttling",
  "MessageRejected",
  "InvalidParameterValue",
  "LimitExceededException",
  "AccessDenied",
  "ServiceUnavailable",
  "InternalFailure",
  "NeverHeardOf",
  "__proto__",
];
const sentences = [
  "Email address is not verified. The following identities failed the check: ana.lind@example.org",
  "Email address is not verified. The following identities failed the check: notify@owed.example, ana.lind@example.org",
  "Daily message quota exceeded.",
  "Sending paused for this account.",
  'Illegal address in "Ana Lind" <ana.lind@example.org>, <eve@example.org>',
  "=?UTF-8?B?QW5hIExpbmQ=?= <ana.lind@example.org> (Ana Lind)",
];

const message = fc
  .array(fc.oneof(fc.constantFrom(...sentences), anyText), { maxLength: 3 })
  .map((parts) => parts.join(" "));
const headers = fc.dictionary(
  fc.constantFrom("retry-after", "date", "__proto__", "constructor"),
  fc.oneof(fc.constantFrom("120", "Fri, 13 Mar 2026 10:00:00 GMT", "-1", "1e9", "7.5"), anyValue),
);

/** What the SDK throws for an answer of SES's, with whatever may stand in it. */
const answered = fc
  .record({
    code: fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...codes) }, { weight: 1, arbitrary: anyValue }),
    message,
    status: fc.constantFrom(200, 301, 400, 403, 429, 500, 503),
    headers,
  })
  .map(({ code, message, status, headers }) =>
    Object.assign(new SESServiceException({ name: "X", message, $fault: "client", $metadata: {} }), {
      Code: code,
      $response: { statusCode: status, headers },
    }),
  );
const thrown = fc.oneof(
  { weight: 6, arbitrary: answered },
  {
    weight: 1,
    arbitrary: fc
      .tuple(message, anyValue, anyValue)
      .map(([text, code, response]) => Object.assign(new Error(text), { code, $response: response })),
  },
  { weight: 1, arbitrary: fc.constantFrom(new StoppedError("TimedOut"), new StoppedError("Aborted")) },
  { weight: 1, arbitrary: anyValue },
);
const stage = fc.constantFrom<Flight["stage"]>(
  "preparing",
  "handed over",
  "connecting",
  "written",
  "written",
);

test("whatever a send throws is an outcome whose reason is short, printable and about nobody", () => {
  fc.assert(
    fc.property(thrown, stage, (error, at) => {
      const flight = new Flight();
      flight.stage = at;
      const result = classify(error, { flight, ...person });
      if (result.outcome === "accepted") throw new Error("a failure was taken for an acceptance");
      if (result.outcome !== "throttled") seen.count(result.outcome);
      else if (result.scope === "recipient") throw new Error("SES asks nobody to wait for one receiver");
      else seen.count(`throttled ${result.scope}`);
      expect(result.reason).toMatch(/^[\w.-]+:( |$)/);
      expect([...result.reason].length).toBeLessThanOrEqual(200);
      expect(result.reason).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u);
      // Before there is a request no row's data can stand in an error.
      if (at !== "preparing") expect(result.reason).not.toMatch(personal);
      if (result.outcome !== "throttled" || result.retryAfterSeconds === null) return;
      expect(Number.isSafeInteger(result.retryAfterSeconds)).toBe(true);
      expect(result.retryAfterSeconds).toBeGreaterThanOrEqual(0);
      expect(result.retryAfterSeconds).toBeLessThanOrEqual(86_400);
    }),
    { numRuns: 1_500 },
  );
  expect(seen.rarest(), JSON.stringify(seen.reached)).toBeGreaterThan(5);
});

test.each([
  "Sending paused for this account",
  "Email address is not verified",
  "Daily message quota exceeded",
])("what a recipient is called, %s, closes no channel when SES quotes it", (name) => {
  const flight = new Flight();
  flight.stage = "written";
  const message = `Illegal name "${name}" in ana.lind@example.org`;
  for (const code of ["MessageRejected", "InvalidParameterValue", "Throttling"]) {
    const error = Object.assign(
      new SESServiceException({ name: code, message, $fault: "client", $metadata: {} }),
      {
        Code: code,
        $response: { statusCode: 400, headers: {} },
      },
    );
    const result = classify(error, { flight, ...person, name });
    if (code === "Throttling") expect(result).toMatchObject({ outcome: "throttled", scope: "rate" });
    else
      expect(result).toEqual({
        outcome: "refused",
        answered: true,
        reason: `${code}: Illegal name "[name]" in [address]`,
      });
  }
});

test("a long message, code or header is judged in a time that grows with its length alone", () => {
  for (const text of longTexts()) {
    const flight = new Flight();
    flight.stage = "written";
    const judge = (message: string, code: string) =>
      classify(
        Object.assign(new SESServiceException({ name: "X", message, $fault: "client", $metadata: {} }), {
          Code: code,
          $response: { statusCode: 400, headers: { "retry-after": text, date: text } },
        }),
        { flight, ...person },
      );
    for (const message of [text, `address is not verified: ${text}`, `Sending ${text}`, `=?UTF-8?B?${text}`])
      expect(
        cost(() => judge(message, "MessageRejected")),
        text.slice(0, 4),
      ).toBeLessThan(500);
    expect(
      cost(() => judge("", text)),
      text.slice(0, 4),
    ).toBeLessThan(500);
    expect(
      cost(() => verdictOf(text, text, 400)),
      text.slice(0, 4),
    ).toBeLessThan(200);
    expect(
      cost(() => retryAfterSeconds({ "retry-after": `Fri, ${text}`, date: text })),
      text.slice(0, 4),
    ).toBeLessThan(200);
  }
});
