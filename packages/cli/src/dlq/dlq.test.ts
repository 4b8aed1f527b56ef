import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestSqs, type TestSqs } from "../../../local/src/sqs/testing.ts";
import { countMessages, followMove, type Move, startMove } from "./move.ts";
import { removeCopies } from "./remove-copies.ts";

let sqs: TestSqs;
beforeAll(async () => {
  sqs = await startTestSqs();
});
afterAll(() => sqs.stop());

/** A FIFO queue with a message for each body, each in a group of its own. */
async function queueWith(bodies: readonly string[]): Promise<string> {
  const queue = await sqs.fifo({ VisibilityTimeout: "120" });
  for (const [place, MessageBody] of bodies.entries())
    await sqs.send(queue, {
      MessageBody,
      MessageGroupId: `group-${place}`,
      MessageDeduplicationId: String(place),
    });
  return queue;
}

const body = (id: string) => JSON.stringify({ id, generation: 0 });
const left = async (queue: string) => {
  const bodies: (string | undefined)[] = [];
  for (let some = await sqs.receive(queue); some.length > 0; some = await sqs.receive(queue))
    bodies.push(...some.map(({ Body }) => Body));
  return bodies.toSorted();
};

test("copies of the rows are removed, wherever they are; the others are visible again at once", async () => {
  const ids = Array.from({ length: 25 }, (_, place) => `row-${String(place).padStart(2, "0")}`);
  const queue = await queueWith(ids.map(body));
  const removal = await removeCopies(sqs.client, queue, ["row-03", "row-24"]);
  expect(removal).toEqual({ removed: 2, others: 23, complete: true });
  // Received by their test's own call, although their visibility timeout is two minutes.
  expect(await left(queue)).toEqual(ids.filter((id) => id !== "row-03" && id !== "row-24").map(body));
});

test("a row without a copy ends the look at the queue's end; what is not ours stays", async () => {
  const strange = ["not JSON", "null", "[]", '{"id": 7}', "{}"];
  const queue = await queueWith(strange);
  expect(await removeCopies(sqs.client, queue, ["row-1"])).toEqual({ removed: 0, others: 5, complete: true });
  expect(await left(queue)).toEqual(strange.toSorted());
});

test("the look ends early when all copies are found, and at its bounds, and says so", async () => {
  const ids = Array.from({ length: 30 }, (_, place) => `row-${String(place).padStart(2, "0")}`);
  const queue = await queueWith(ids.map(body));
  expect(await removeCopies(sqs.client, queue, ["row-01"])).toEqual({
    removed: 1,
    others: 9,
    complete: true,
  });
  const bounded = await removeCopies(sqs.client, queue, ["row-29"], { budget: 60, hidden: 10 });
  expect(bounded).toEqual({ removed: 0, others: 10, complete: false });
  expect(await removeCopies(sqs.client, queue, ["row-29"], { budget: 0, hidden: 10 })).toEqual({
    removed: 0,
    others: 0,
    complete: false,
  });
  expect(await removeCopies(sqs.client, queue, [])).toEqual({ removed: 0, others: 0, complete: true });
  expect(await left(queue)).toHaveLength(29);
});

test("a failure in the middle puts back what was hidden", async () => {
  const queue = await queueWith([body("row-1"), body("row-2")]);
  const broken = {
    send: (command: { constructor: { name: string } }) => {
      if (command.constructor.name === "DeleteMessageBatchCommand") throw new Error("no right to delete");
      return Reflect.apply(sqs.client.send, sqs.client, [command]);
    },
  };
  await expect(Reflect.apply(removeCopies, null, [broken, queue, ["row-1"]])).rejects.toThrow("no right");
  expect(await sqs.receive(queue)).toHaveLength(1);
});

test("SQS's own redrive is started and followed to its end", async () => {
  const dead = await queueWith([]);
  const arn = await sqs.arn(dead);
  const source = await sqs.fifo({
    VisibilityTimeout: "0",
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn: arn, maxReceiveCount: 1 }),
  });
  for (const id of ["a", "b"])
    await sqs.send(source, { MessageBody: body(id), MessageGroupId: id, MessageDeduplicationId: id });
  expect(await sqs.receive(source)).toHaveLength(2);
  expect(await sqs.receive(source)).toEqual([]);
  expect(await countMessages(sqs.client, dead)).toBe(2);
  await startMove(sqs.client, arn);
  const reports: Move[] = [];
  const move = await followMove(sqs.client, arn, (report) => reports.push(report), 10);
  expect(move).toEqual({ status: "COMPLETED", moved: 2, toMove: 2, failure: null });
  expect(reports.every(({ status }) => status === "RUNNING")).toBe(true);
  expect((await sqs.receive(source)).map(({ Body }) => Body).toSorted()).toEqual([body("a"), body("b")]);
});

test("a queue that is nobody's dead-letter queue is refused by SQS", async () => {
  const arn = await sqs.arn(await queueWith([]));
  await expect(startMove(sqs.client, arn)).rejects.toThrow(/Dead Letter Queue/);
});
