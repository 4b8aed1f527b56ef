import { SQSServiceException } from "@aws-sdk/client-sqs";
import { LedgerUnavailable, NotAllowed, NotificationNotFound } from "@owed/ledger";
import { expect, test } from "vitest";
import { exitCodes, Failure, toFailure } from "./errors.ts";

const reading = { writes: false, hint: "start it" };
const writing = { writes: true, hint: "start it" };
const withCode = (name: string, code: string) => Object.assign(new Error("told"), { name, code });

test.each([
  [new Failure("usage", "wrong"), "usage", 2],
  [new NotificationNotFound("n-1"), "not_found", 3],
  [new NotAllowed("it is delivered"), "not_allowed", 3],
  [new LedgerUnavailable(new Error("ECONNREFUSED"), true), "unavailable", 1],
  [withCode("PostgresError", "42P01"), "not_configured", 1],
  [new LedgerUnavailable(withCode("PostgresError", "28P01"), true), "not_configured", 1],
  [withCode("PostgresError", "XX000"), "failed", 1],
  [Object.assign(new Error("not linked"), { name: "InvalidResource" }), "not_configured", 1],
  [
    new SQSServiceException({ name: "QueueDoesNotExist", message: "gone", $fault: "client", $metadata: {} }),
    "unavailable",
    1,
  ],
  [new Error("a fault of ours"), "failed", 1],
  ["a text", "failed", 1],
])("%s", (error, kind, code) => {
  const failure = toFailure(error, reading);
  expect(failure.kind).toBe(kind);
  expect(exitCodes[failure.kind]).toBe(code);
});

test("a lost answer to a write leaves it open; to a read it does not", () => {
  const lost = new LedgerUnavailable(new Error("ECONNRESET"), false);
  expect(toFailure(lost, writing).message).toMatch(/; start it; it may have taken effect: look/);
  expect(toFailure(lost, reading).message).toMatch(/; start it$/);
  expect(toFailure(new LedgerUnavailable(new Error("x"), true), writing).message).toMatch(/; start it$/);
});

test("a refused connection to several addresses is named by its code", () => {
  const refused = Object.assign(new AggregateError([]), { code: "ECONNREFUSED", $metadata: { attempts: 3 } });
  expect(toFailure(refused, reading).message).toBe(
    "SQS did not do what was asked (AggregateError: ECONNREFUSED); start it",
  );
});
