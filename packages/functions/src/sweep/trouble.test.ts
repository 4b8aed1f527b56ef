import { SQSClient } from "@aws-sdk/client-sqs";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { SqsFault } from "../../../local/src/sqs/index.ts";
import type { Published } from "../publish/publish.ts";
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
    // The later rows of the group certainly went nowhere: they are released, not sent past the unsure one, and
    // come when its lease has run out.
    expect(done).toMatchObject({ accepted: [], failed: 0, unsure: 10, refusal: null });
    expect(idsOf(done.released)).toEqual(idsOf(rows).slice(10));
    expect(done.released.map(({ wait }) => wait)).toEqual([120, 120]);
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

test("whatever fails and however slow: every row has one end, and every group its order", async () => {
  const single = new SQSClient({ maxAttempts: 1 });
  const weather = fc.constantFrom("fine", "fine", "fine", "partial", "refused", "down", "before", "after");
  const arbitrary = fc.record({
    groups: fc.array(fc.nat({ max: 7 }), { minLength: 1, maxLength: 70 }),
    lanes: fc.integer({ min: 1, max: 8 }),
    calls: fc.array(fc.record({ weather, wait: fc.nat({ max: 12 }) }), { minLength: 8, maxLength: 8 }),
    budget: fc.oneof({ weight: 4, arbitrary: fc.constant(99) }, fc.nat({ max: 6 })),
  });
  await fc.assert(
    fc.asyncProperty(arbitrary, async ({ groups, lanes, calls, budget }) => {
      const rows = rowsOf(groups);
      const place = new Map(rows.map((row, at) => [row.id, at]));
      const groupOf = (id: string) => groups[place.get(id) ?? -1];
      const taken = world.watch();
      const stuck = new Set<number | undefined>();
      const offences: string[] = [];
      world.onSends((entries, call) => {
        const today = calls[call % calls.length];
        if (entries.length === 0 || entries.length > 10) offences.push(`a call of ${entries.length}`);
        if (new Set(entries.map(groupOf)).size < entries.length)
          offences.push("two rows of a group in a call");
        if (entries.some((id) => stuck.has(groupOf(id))))
          offences.push("sent past a failed row of its group");
        const bad = today?.weather === "partial" ? entries.filter((_, at) => at % 3 === 1) : entries;
        if (today?.weather !== "fine") for (const id of bad) stuck.add(groupOf(id));
        const slow = { delay: today?.wait ?? 0 };
        switch (today?.weather) {
          case "partial":
            return {
              ...slow,
              failed: (entry) =>
                bad.includes(idOf(entry)) ? { code: "Throttled", message: "x" } : undefined,
            };
          case "refused":
            return { ...slow, error: { status: 400, code: "RequestThrottled", message: "x" } };
          case "down":
            return { ...slow, error: { status: 500, code: "InternalFailure", message: "x" } };
          case "before":
          case "after":
            return { ...slow, drop: today.weather };
          default:
            return slow;
        }
      });
      let may = budget;
      const done: Published = await world.send(rows, { sqs: single, lanes, mayCall: () => may-- > 0 });
      world.sqs.faults.clear();

      expect(offences).toEqual([]);
      const told = [...idsOf(done.accepted), ...idsOf(done.released)];
      expect(new Set(told).size).toBe(told.length);
      expect(told.length + done.unsure).toBe(rows.length);
      // What the queue has was accepted, or is unsure; never released, since it would be sent again.
      const inQueue = new Set(taken.flat());
      expect(taken.flat()).toHaveLength(inQueue.size);
      expect(idsOf(done.accepted).filter((id) => !inQueue.has(id))).toEqual([]);
      expect(idsOf(done.released).filter((id) => inQueue.has(id))).toEqual([]);
      for (const group of new Set(groups)) {
        const order = taken
          .flat()
          .filter((id) => groupOf(id) === group)
          .map((id) => place.get(id) ?? -1);
        expect(order).toEqual(order.toSorted((a, b) => a - b));
      }
    }),
    { numRuns: 40 },
  );
});
