import { randomUUID } from "node:crypto";
import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { evilTexts, fc, mutated, written } from "../../../../tests/hostile/arbitraries.ts";
import { createQueues, QUEUES } from "../../../local/src/sqs/index.ts";
import { startTestSqs, type TestSqs } from "../../../local/src/sqs/testing.ts";
import { countMessages } from "./move.ts";
import { removeCopies } from "./remove-copies.ts";

let sqs: TestSqs;
beforeAll(async () => {
  sqs = await startTestSqs();
});
afterAll(() => sqs.stop());

test("of a dead-letter queue full of anything only the messages that name the row are removed", async () => {
  const { notification } = await createQueues(sqs.client, QUEUES);
  const { url } = notification.deadLetters;
  const id = randomUUID();
  const row = JSON.stringify({ id, generation: 3 });
  const others = fc.sample(written(mutated(fc.record({ id: fc.uuid(), generation: fc.nat(9) }), 3)), 60);
  // What SQS takes: the characters of XML 1.0.
  const taken = [...others, ...evilTexts].filter((body) =>
    /^[\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]+$/u.test(body),
  );
  const bodies = [
    `[${row}]`,
    JSON.stringify({ id: [id] }),
    JSON.stringify({ id: id.toUpperCase() }),
    JSON.stringify({ __proto__: null, ID: id }),
    ...taken,
  ];
  for (const MessageBody of [row, ...bodies, row]) {
    const unique = randomUUID();
    await sqs.client.send(
      new SendMessageCommand({
        QueueUrl: url,
        MessageBody,
        MessageGroupId: unique,
        MessageDeduplicationId: unique,
      }),
    );
  }
  const removal = await removeCopies(sqs.client, url, [id, randomUUID()], { budget: 20, hidden: 10_000 });
  expect(removal).toEqual({ removed: 2, others: bodies.length, complete: true });
  expect(await countMessages(sqs.client, url)).toBe(bodies.length);
});
