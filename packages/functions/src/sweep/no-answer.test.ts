import { SQSClient } from "@aws-sdk/client-sqs";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { SqsFault } from "../../../local/src/sqs/index.ts";
import { idOf, idsOf, type Publishing, rowsOf, startPublishing } from "../testing/publishing.ts";

let world: Publishing;
beforeAll(async () => {
  world = await startPublishing();
});
afterEach(() => world.sqs.faults.clear());
afterAll(() => world.stop());

describe("no answer says neither: the rows are left to their leases", () => {
  /** Its deadline is short, and it does not try again by itself. */
  const impatient = () =>
    new SQSClient({
      maxAttempts: 1,
      requestHandler: new NodeHttpHandler({ requestTimeout: 150, throwOnRequestTimeout: true }),
    });
  const never = new Promise<void>(() => {});

  test.each<[string, SqsFault]>([
    ["a server error", { error: { status: 503, code: "ServiceUnavailable", message: "x" } }],
    ["a connection that breaks before the queue has it", { drop: "before" }],
    ["a connection that breaks after the queue has it", { drop: "after" }],
    ["a time-out", { hold: never }],
  ])("%s", async (_, fault) => {
    const rows = rowsOf(Array.from({ length: 12 }, (_, place) => (place < 10 ? place : 0)));
    world.onSends((entries) => (entries.length === 10 ? fault : {}));
    const done = await world.send(rows, { sqs: impatient() });
    // The later rows of the group certainly went nowhere: they are released, not sent past the unsure one.
    expect(done).toMatchObject({ accepted: [], failed: 0, unsure: 10, refusal: null });
    expect(idsOf(done.released)).toEqual(idsOf(rows).slice(10));
  });

  test("an entry that the answer does not name is unsure, and holds its group", async () => {
    const rows = rowsOf(Array.from({ length: 11 }, (_, place) => (place < 10 ? place : 0)));
    const first = idsOf(rows)[0];
    const middleware = new SQSClient({});
    // What the queue said of the first entry is lost on the way.
    middleware.middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args);
        const output = result.output as { Successful?: { Id: string }[] };
        if (output.Successful && output.Successful.length === 10) output.Successful.shift();
        return result;
      },
      { step: "initialize", name: "forgetful" },
    );
    const calls = world.watch();
    const done = await world.send(rows, { sqs: middleware });
    expect(calls[0]?.[0]).toBe(first);
    expect(done).toMatchObject({ unsure: 1, failed: 0 });
    expect(idsOf(done.accepted)).toEqual(idsOf(rows).slice(1, 10));
    expect(idsOf(done.released)).toEqual(idsOf(rows).slice(10));
  });

  test("the functions' own client tries again by itself, and the deduplication id swallows the repeat", async () => {
    const rows = rowsOf([1, 2, 3]);
    const own = await world.sqs.fifo();
    const calls = world.watch();
    world.onSends((_, call) => (call === 0 ? { drop: "after" } : undefined));
    expect(await world.send(rows, { queueUrl: own })).toMatchObject({ unsure: 0, failed: 0, released: [] });
    expect(calls).toEqual([idsOf(rows), idsOf(rows)]);
    const received = await world.sqs.receive(own);
    expect(received.map((message) => idOf({ MessageBody: message.Body })).toSorted()).toEqual(
      idsOf(rows).toSorted(),
    );
    for (const message of received) await world.sqs.remove(own, message);
    expect(await world.sqs.receive(own)).toEqual([]);
  });
});
