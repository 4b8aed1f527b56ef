import { defaultDurations } from "@owed/ledger";
import type { SQSRecord } from "aws-lambda";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { startTestSqs, type TestSqs } from "../../local/src/sqs/testing.ts";
import { createSqsClient } from "./sqs.ts";
import { acknowledge, type Disposal, failAfter, respond, waitForLedger } from "./sqs-batch.ts";
import { pointSdkAt } from "./testing/environment.ts";
import { recordOf } from "./testing/records.ts";

let sqs: TestSqs;
let url: string;
beforeAll(async () => {
  sqs = await startTestSqs();
  url = await sqs.queue();
  pointSdkAt(sqs);
});
afterEach(() => sqs.faults.clear());
afterAll(async () => {
  vi.unstubAllEnvs();
  await sqs.stop();
});

/** The visibility changes that were asked for, call by call. */
const watch = () => {
  const calls: { ReceiptHandle: string; VisibilityTimeout: number }[][] = [];
  sqs.faults.add(({ action, request }) => {
    if (action === "ChangeMessageVisibilityBatch") calls.push(request.Entries as (typeof calls)[number]);
    return undefined;
  });
  return calls;
};
const answer = (disposals: [SQSRecord, Disposal][], onError = vi.fn()) =>
  respond(createSqsClient(2), url, new Map(disposals), onError);
const failures = (records: SQSRecord[]) => ({
  batchItemFailures: records.map(({ messageId }) => ({ itemIdentifier: messageId })),
});

test("all acknowledged: an empty report, and no call", async () => {
  const calls = watch();
  expect(await answer([[recordOf("a"), acknowledge]])).toEqual({ batchItemFailures: [] });
  expect(await answer([])).toEqual({ batchItemFailures: [] });
  expect(calls).toEqual([]);
});

test("failed ones are reported, each with its own visibility; null leaves the queue's", async () => {
  const [a, b, c, d] = [recordOf("a"), recordOf("b"), recordOf("c"), recordOf("d")];
  const calls = watch();
  const given: [SQSRecord, Disposal][] = [
    [a, failAfter(0)],
    [b, acknowledge],
    [c, failAfter(null)],
    [d, failAfter(12.4)],
  ];
  expect(await answer(given)).toEqual(failures([a, c, d]));
  expect(
    calls.flat().map(({ ReceiptHandle, VisibilityTimeout }) => [ReceiptHandle, VisibilityTimeout]),
  ).toEqual([
    [a.receiptHandle, 0],
    [d.receiptHandle, 12],
  ]);
});

test("more than ten take more than one call", async () => {
  const records = Array.from({ length: 25 }, (_, place) => recordOf(`${place}`));
  const calls = watch();
  expect(await answer(records.map((record) => [record, failAfter(7)]))).toEqual(failures(records));
  expect(calls.map((entries) => entries.length)).toEqual([10, 10, 5]);
});

test("a real message comes back at once, or not before its time", async () => {
  await sqs.send(url, { MessageBody: "soon" });
  await sqs.send(url, { MessageBody: "late" });
  const received = await sqs.receive(url, { VisibilityTimeout: 600 });
  const given = received.map((message): [SQSRecord, Disposal] => [
    { ...recordOf(message.Body ?? ""), receiptHandle: message.ReceiptHandle ?? "" },
    failAfter(message.Body === "soon" ? 0 : 600),
  ]);
  expect((await answer(given)).batchItemFailures).toHaveLength(2);
  expect((await sqs.receive(url)).map(({ Body }) => Body)).toEqual(["soon"]);
});

test("a visibility that can't be set is told, and costs no message its report", async () => {
  const records = Array.from({ length: 12 }, (_, place) => recordOf(`${place}`));
  const onError = vi.fn();
  const calls = watch();
  sqs.faults.add(({ action, request }) =>
    action === "ChangeMessageVisibilityBatch" && (request.Entries as unknown[]).length === 10
      ? { error: { status: 403, code: "AccessDenied", message: "no" } }
      : undefined,
  );
  expect(
    await answer(
      records.map((record) => [record, failAfter(7)]),
      onError,
    ),
  ).toEqual(failures(records));
  expect(onError).toHaveBeenCalledWith(expect.objectContaining({ name: "AccessDenied" }));
  expect(calls.map((entries) => entries.length)).toEqual([10, 2]);
});

test("and so is one of a call that succeeds for the others", async () => {
  await sqs.send(url, { MessageBody: "real" });
  const [message] = await sqs.receive(url, { VisibilityTimeout: 600 });
  const real = { ...recordOf("real"), receiptHandle: message?.ReceiptHandle ?? "" };
  const onError = vi.fn();
  const given: [SQSRecord, Disposal][] = [
    [recordOf("forged"), failAfter(7)],
    [real, failAfter(0)],
  ];
  expect((await answer(given, onError)).batchItemFailures).toHaveLength(2);
  expect(onError).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ message: expect.stringMatching(/^ReceiptHandleIsInvalid: ./) }),
  );
  expect((await sqs.receive(url)).map(({ Body }) => Body)).toEqual(["real"]);
});

test("the waits for an absent database grow to a minute: a thousand receives are sixteen hours", () => {
  const waits = Array.from({ length: 1000 }, (_, place) => waitForLedger(place + 1));
  expect(waits.slice(0, 4)).toEqual([10, 30, 60, 60]);
  // Together with the next try they stay under the time for which a resend waits for hidden evidence.
  expect(2 * Math.max(...waits)).toBeLessThan(defaultDurations.settle);
  expect(Math.floor(waits.reduce((sum, wait) => sum + wait, 0) / 3600)).toBe(16);
});
