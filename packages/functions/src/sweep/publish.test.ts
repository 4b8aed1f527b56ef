import { randomUUID } from "node:crypto";
import { SQSClient } from "@aws-sdk/client-sqs";
import type { Leased } from "@owed/ledger";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { SqsFault } from "../../../local/src/sqs/index.ts";
import { startTestSqs, type TestSqs } from "../../../local/src/sqs/testing.ts";
import { createSqsClient } from "../sqs.ts";
import { pointSdkAt } from "../testing/environment.ts";
import { messageOf } from "./message.ts";
import { type Published, type PublishOptions, publish } from "./publish.ts";

let sqs: TestSqs;
let queueUrl: string;
let client: SQSClient;
beforeAll(async () => {
  sqs = await startTestSqs();
  pointSdkAt(sqs);
  queueUrl = await sqs.fifo();
  client = createSqsClient(8);
});
afterEach(() => sqs.faults.clear());
afterAll(async () => {
  vi.unstubAllEnvs();
  client.destroy();
  await sqs.stop();
});

const rowsOf = (groups: readonly (number | string)[]): Leased[] =>
  groups.map((group) => ({ id: randomUUID(), generation: 0, token: 1, group: String(group) }));
const send = (rows: readonly Leased[], more: Partial<PublishOptions> = {}) =>
  publish(rows, { sqs: client, queueUrl, lanes: 4, mayCall: () => true, random: () => 0.5, ...more });
const idOf = (entry: { MessageBody?: unknown }) => JSON.parse(String(entry.MessageBody)).id as string;
const ids = (rows: readonly Leased[]) => rows.map((row) => row.id);

/** What the queue took, call by call, in the order in which it did. */
function watch(): string[][] {
  const calls: string[][] = [];
  sqs.faults.observe(({ action, status, request, response }) => {
    if (action !== "SendMessageBatch" || status !== 200) return;
    const entries = request.Entries as { Id: string; MessageBody: string }[];
    const taken = new Set((response.Successful as { Id: string }[]).map(({ Id }) => Id));
    calls.push(entries.filter(({ Id }) => taken.has(Id)).map(idOf));
  });
  return calls;
}
const onSends = (fault: (entries: string[], call: number) => SqsFault | undefined) => {
  let call = 0;
  return sqs.faults.add(({ action, request }) =>
    action === "SendMessageBatch" ? fault((request.Entries as object[]).map(idOf), call++) : undefined,
  );
};

test("a slice goes out in batches of ten, messages as the row says, none twice", async () => {
  const rows = rowsOf(Array.from({ length: 25 }, (_, place) => place));
  const sent: unknown[] = [];
  sqs.faults.observe(({ action, request }) => {
    if (action === "SendMessageBatch") sent.push(request.Entries);
  });
  const done = await send(rows);
  expect(done).toMatchObject({ released: [], failed: 0, unsure: 0, refusal: null });
  expect(ids(done.accepted).toSorted()).toEqual(ids(rows).toSorted());
  expect(sent).toHaveLength(3);
  expect(sent).toEqual(
    expect.arrayContaining(
      [rows.slice(0, 10), rows.slice(10, 20), rows.slice(20)].map((batch) => batch.map(messageOf)),
    ),
  );
});

test("nothing to publish is no call", async () => {
  const calls = watch();
  expect(await send([])).toMatchObject({ accepted: [], released: [] });
  expect(calls).toEqual([]);
});

test("as many calls are in flight as there are lanes", async () => {
  const rows = rowsOf(Array.from({ length: 90 }, (_, place) => place));
  let flying = 0;
  let most = 0;
  onSends(() => {
    flying += 1;
    most = Math.max(most, flying);
    return { delay: 5 };
  });
  sqs.faults.observe(() => {
    flying -= 1;
  });
  expect((await send(rows, { lanes: 3 })).accepted).toHaveLength(90);
  expect(most).toBe(3);
});

test("a refused entry is released with a wait, and with it the later rows of its group alone", async () => {
  // Two batches of ten, groups 0 to 4 twice in each.
  const rows = rowsOf(Array.from({ length: 20 }, (_, place) => place % 5));
  const refused = ids(rows)[2] ?? "";
  onSends(() => ({
    failed: (entry) => (idOf(entry) === refused ? { code: "InternalError", message: "x" } : undefined),
  }));
  const done = await send(rows);
  const later = ids(rows).filter((_, place) => place >= 10 && place % 5 === 2);
  expect(ids(done.released)).toEqual([refused, ...later]);
  expect(done.released.map(({ wait }) => wait)).toEqual([32.5, 32.5, 32.5]);
  expect(done).toMatchObject({ failed: 1, unsure: 0, refusal: "InternalError" });
  expect(done.accepted).toHaveLength(17);
});

test("the waits are spread, so that what failed together does not come back together", async () => {
  onSends(() => ({ failed: () => ({ code: "Throttled", message: "x" }) }));
  const done = await publish(rowsOf([1, 2, 3, 4, 5, 6, 7, 8]), {
    sqs: client,
    queueUrl,
    lanes: 4,
    mayCall: () => true,
  });
  expect(new Set(done.released.map(({ wait }) => wait)).size).toBe(8);
  for (const { wait } of done.released) {
    expect(wait).toBeGreaterThanOrEqual(5);
    expect(wait).toBeLessThan(60);
  }
});

test("a call that is refused as a whole: nothing of it was taken, so all of it is released", async () => {
  const rows = rowsOf([1, 2, 3]);
  const calls = watch();
  onSends(() => ({ error: { status: 403, code: "AccessDenied", message: "no" } }));
  const done = await send(rows);
  expect(done).toMatchObject({ accepted: [], failed: 3, unsure: 0, refusal: "AccessDenied" });
  expect(ids(done.released)).toEqual(ids(rows));
  expect(calls).toEqual([]);
});

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
    onSends((entries) => (entries.length === 10 ? fault : {}));
    const done = await send(rows, { sqs: impatient() });
    // The later rows of the group certainly went nowhere: they are released, not sent past the unsure one.
    expect(done).toMatchObject({ accepted: [], failed: 0, unsure: 10, refusal: null });
    expect(ids(done.released)).toEqual(ids(rows).slice(10));
  });

  test("an entry that the answer does not name is unsure, and holds its group", async () => {
    const rows = rowsOf(Array.from({ length: 11 }, (_, place) => (place < 10 ? place : 0)));
    const first = ids(rows)[0];
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
    const calls = watch();
    const done = await send(rows, { sqs: middleware });
    expect(calls[0]?.[0]).toBe(first);
    expect(done).toMatchObject({ unsure: 1, failed: 0 });
    expect(ids(done.accepted)).toEqual(ids(rows).slice(1, 10));
    expect(ids(done.released)).toEqual(ids(rows).slice(10));
  });

  test("the functions' own client tries again by itself, and the deduplication id swallows the repeat", async () => {
    const rows = rowsOf([1, 2, 3]);
    const own = await sqs.fifo();
    const calls = watch();
    onSends((_, call) => (call === 0 ? { drop: "after" } : undefined));
    expect(await send(rows, { queueUrl: own })).toMatchObject({ unsure: 0, failed: 0, released: [] });
    expect(calls).toEqual([ids(rows), ids(rows)]);
    const received = await sqs.receive(own);
    expect(received.map((message) => idOf({ MessageBody: message.Body })).toSorted()).toEqual(
      ids(rows).toSorted(),
    );
    for (const message of received) await sqs.remove(own, message);
    expect(await sqs.receive(own)).toEqual([]);
  });
});

test("past the budget nothing more is sent: the rest is owed again at once", async () => {
  const rows = rowsOf(Array.from({ length: 35 }, (_, place) => place));
  let left = 2;
  const done = await send(rows, { lanes: 1, mayCall: () => left-- > 0 });
  expect(ids(done.accepted)).toEqual(ids(rows).slice(0, 20));
  expect(ids(done.released)).toEqual(ids(rows).slice(20));
  expect(new Set(done.released.map(({ wait }) => wait))).toEqual(new Set([0]));
  expect(done).toMatchObject({ failed: 0, unsure: 0, refusal: null });
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
      const taken = watch();
      const stuck = new Set<number | undefined>();
      const offences: string[] = [];
      onSends((entries, call) => {
        const today = calls[call % calls.length];
        if (entries.length === 0 || entries.length > 10) offences.push(`a call of ${entries.length}`);
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
      const done: Published = await send(rows, { sqs: single, lanes, mayCall: () => may-- > 0 });
      sqs.faults.clear();

      expect(offences).toEqual([]);
      const told = [...ids(done.accepted), ...ids(done.released)];
      expect(new Set(told).size).toBe(told.length);
      expect(told.length + done.unsure).toBe(rows.length);
      // What the queue has was accepted, or is unsure; never released, since it would be sent again.
      const inQueue = new Set(taken.flat());
      expect(taken.flat()).toHaveLength(inQueue.size);
      expect(ids(done.accepted).filter((id) => !inQueue.has(id))).toEqual([]);
      expect(ids(done.released).filter((id) => inQueue.has(id))).toEqual([]);
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
