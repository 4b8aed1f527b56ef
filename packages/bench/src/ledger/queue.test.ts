import { expect, test } from "vitest";
import { Queue } from "./queue.ts";

const message = (id: string) => ({ id, generation: 0, messageId: id, sentAt: 0 });
const ids = async (taken: Promise<{ id: string }[]>) => (await taken).map(({ id }) => id);

test("messages come in order, no more than asked for", async () => {
  const queue = new Queue(10);
  await queue.push(["a", "b", "c"].map(message));
  expect(await ids(queue.take(2))).toEqual(["a", "b"]);
  expect(await ids(queue.take(2))).toEqual(["c"]);
});

test("whoever takes waits for a message, or for the end", async () => {
  const queue = new Queue(10);
  const first = ids(queue.take(1));
  const second = ids(queue.take(1));
  await queue.push([message("a")]);
  expect(await first).toEqual(["a"]);
  queue.close();
  expect(await second).toEqual([]);
});

test("whoever fills it waits until there is room", async () => {
  const queue = new Queue(1);
  await queue.push([message("a")]);
  let pushed = false;
  const second = queue.push([message("b")]).then(() => {
    pushed = true;
  });
  expect(pushed).toBe(false);
  expect(await ids(queue.take(1))).toEqual(["a"]);
  await second;
  expect(await ids(queue.take(1))).toEqual(["b"]);
});

test("what is in it when it closes is still taken", async () => {
  const queue = new Queue(10);
  await queue.push([message("a")]);
  queue.close();
  expect(await ids(queue.take(5))).toEqual(["a"]);
  expect(await ids(queue.take(5))).toEqual([]);
});
