import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { finish } from "./post.ts";

/** An answer whose body comes in parts of a kilobyte, as long as it is read. */
function anAnswer(parts: number): { answer: IncomingMessage; read: () => number } {
  let read = 0;
  const answer = new IncomingMessage(new Socket());
  Object.assign(answer, { statusCode: 200 });
  answer.headers = { "retry-after": "7", "set-cookie": ["a=1", "b=2"] };
  answer._read = () => {
    read += 1;
    setImmediate(() => answer.push(read <= parts ? Buffer.alloc(1_024) : null));
  };
  return { answer, read: () => read };
}

test("an answer is its status and headers, when its body has been read", async () => {
  const { answer, read } = anAnswer(3);
  const headers = { "retry-after": "7", "set-cookie": "a=1,b=2" };
  expect(await finish(answer, 5_000)).toEqual({ status: 200, headers });
  expect(read()).toBe(4);
  expect(answer.destroyed).toBe(true);
});

test("no more than 4 KiB of a body are read, and what was asked for meanwhile", async () => {
  const { answer, read } = anAnswer(1_000_000);
  await finish(answer, 5_000);
  expect(read()).toBeLessThan(10);
  expect(answer.destroyed).toBe(true);
});

test("a body is not waited for when the call's time is over", async () => {
  const { answer } = anAnswer(0);
  answer._read = () => {};
  const began = performance.now();
  expect(await finish(answer, -5)).toMatchObject({ status: 200 });
  expect(performance.now() - began).toBeLessThan(200);
  expect(answer.destroyed).toBe(true);
});
