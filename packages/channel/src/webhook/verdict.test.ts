import fc from "fast-check";
import { expect, test } from "vitest";
import { anyText } from "../../../../tests/hostile/arbitraries.ts";
import { StoppedError } from "../http/bounded.ts";
import { Flight } from "../http/flight.ts";
import { verdictOf, verdictOfFailure } from "./verdict.ts";

const refused = (reason: string) => ({
  result: { outcome: "refused", reason, answered: true },
  met: "answered",
});
const transient = (reason: string, met = "answered") => ({
  result: { outcome: "transient", reason, answered: true },
  met,
});
const throttled = (reason: string, seconds: number) => ({
  result: { outcome: "throttled", reason, retryAfterSeconds: seconds, scope: "recipient" },
  met: { restSeconds: seconds },
});

test.for([200, 201, 202, 204, 299])("%i accepts, by the webhook's id", (status) => {
  expect(verdictOf({ status, headers: {} }, "n-1")).toEqual({
    result: { outcome: "accepted", provider: "webhook", providerMessageId: "n-1" },
    met: "answered",
  });
});

test.for([
  [301, refused("Redirect: status 301, redirects are not followed")],
  [302, refused("Redirect: status 302, redirects are not followed")],
  [308, refused("Redirect: status 308, redirects are not followed")],
  [410, refused("Gone: status 410")],
  [400, transient("NotAccepted: status 400")],
  [401, transient("NotAccepted: status 401")],
  [403, transient("NotAccepted: status 403")],
  [404, transient("NotAccepted: status 404")],
  [413, transient("NotAccepted: status 413")],
  [422, transient("NotAccepted: status 422")],
  [425, transient("TooEarly: status 425")],
  [408, transient("RequestTimeout: status 408", "failed")],
  [500, transient("ServerError: status 500", "failed")],
  [502, transient("ServerError: status 502", "failed")],
  [503, transient("ServerError: status 503", "failed")],
  [599, transient("ServerError: status 599", "failed")],
  [429, throttled("TooManyRequests: status 429", 60)],
  [600, transient("UnusableAnswer: status 600")],
  [999, transient("UnusableAnswer: status 999")],
  [0, transient("UnusableAnswer: status 0")],
] as const)("%i means %o", ([status, expected]) => {
  expect(verdictOf({ status, headers: {} }, "n-1")).toEqual(expected);
});

const date = "Thu, 12 Mar 2026 14:05:00 GMT";
test.for([
  ["17", 17],
  ["0", 0],
  ["86401", 86_400],
  ["99999999999999999999", 86_400],
  ["Thu, 12 Mar 2026 14:07:00 GMT", 120],
  ["Thursday, 12-Mar-26 14:07:00 GMT", 120],
  ["Thu Mar 12 14:07:00 2026 GMT", 120],
  ["Thu, 12 Mar 2026 14:04:00 GMT", 0],
  ["Fri, 20 Mar 2026 14:05:00 GMT", 86_400],
] as const)("Retry-After: %s is obeyed for %i s", ([value, seconds]) => {
  const headers = { "retry-after": value, date };
  expect(verdictOf({ status: 429, headers }, "n-1")).toEqual(
    throttled("TooManyRequests: status 429", seconds),
  );
  expect(verdictOf({ status: 503, headers }, "n-1")).toEqual(throttled("ServerError: status 503", seconds));
});

test.for(["", "-1", "1.5", "1e3", "0x10", "soon", "12 Mar", "NaN", "２"])(
  "Retry-After: %j is none",
  (value) => {
    const headers = { "retry-after": value, date };
    expect(verdictOf({ status: 429, headers }, "n-1")).toEqual(throttled("TooManyRequests: status 429", 60));
    expect(verdictOf({ status: 503, headers }, "n-1")).toEqual(
      transient("ServerError: status 503", "failed"),
    );
  },
);

test("a client error is no request for time, whatever its headers", () => {
  const headers = { "retry-after": "17" };
  expect(verdictOf({ status: 404, headers }, "n-1")).toEqual(transient("NotAccepted: status 404"));
});

test("without an answer, it counts whether the request was written", () => {
  const reset = Object.assign(new Error("shop.example said no"), { code: "ECONNRESET" });
  const flight = new Flight();
  expect(verdictOfFailure(reset, flight)).toEqual(
    transient("ECONNRESET: the request was not written", "failed"),
  );
  expect(verdictOfFailure(new StoppedError("Aborted"), flight).met).toBe("nothing");
  flight.stage = "written";
  const reason = "ECONNRESET: no answer, the request was written";
  const unknown = { outcome: "unknown", reason, answered: true };
  expect(verdictOfFailure(reset, flight)).toEqual({ result: unknown, met: "failed" });
  expect(verdictOfFailure(new StoppedError("TimedOut"), flight).met).toBe("failed");
});

test("whatever an answer holds, its result can be stored, and quotes nothing of it", () => {
  const headers = fc.record({ "retry-after": anyText, date: anyText, location: anyText });
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999 }), headers, (status, given) => {
      const { result, met } = verdictOf({ status, headers: given }, "n-1");
      if (result.outcome !== "accepted")
        expect(result.reason).toMatch(/^\w+: status \d+(, redirects are not followed)?$/);
      if (result.outcome !== "throttled") return;
      expect(result.retryAfterSeconds).toSatisfy(Number.isSafeInteger);
      expect(met).toEqual({ restSeconds: result.retryAfterSeconds });
    }),
    { numRuns: 500 },
  );
});
