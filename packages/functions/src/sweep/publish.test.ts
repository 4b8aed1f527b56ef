import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { idOf, idsOf, type Publishing, rowsApart, rowsOf, startPublishing } from "../testing/publishing.ts";
import { messageOf } from "./message.ts";
import { publish } from "./publish.ts";

let world: Publishing;
beforeAll(async () => {
  world = await startPublishing();
});
afterEach(() => world.sqs.faults.clear());
afterAll(() => world.stop());

test("a slice goes out in batches of ten, messages as the row says, none twice", async () => {
  const rows = rowsApart(25);
  const sent: unknown[] = [];
  world.sqs.faults.observe(({ action, request }) => {
    if (action === "SendMessageBatch") sent.push(request.Entries);
  });
  const done = await world.send(rows);
  expect(done).toMatchObject({ released: [], failed: 0, unsure: 0, refusal: null });
  expect(idsOf(done.accepted).toSorted()).toEqual(idsOf(rows).toSorted());
  expect(sent).toHaveLength(3);
  expect(sent).toEqual(
    expect.arrayContaining(
      [rows.slice(0, 10), rows.slice(10, 20), rows.slice(20)].map((batch) => batch.map(messageOf)),
    ),
  );
});

test("nothing to publish is no call", async () => {
  const calls = world.watch();
  expect(await world.send([])).toMatchObject({ accepted: [], released: [] });
  expect(calls).toEqual([]);
});

test("as many calls are in flight as there are lanes", async () => {
  const rows = rowsApart(90);
  let flying = 0;
  let most = 0;
  world.onSends(() => {
    flying += 1;
    most = Math.max(most, flying);
    return { delay: 5 };
  });
  world.sqs.faults.observe(() => {
    flying -= 1;
  });
  expect((await world.send(rows, { lanes: 3 })).accepted).toHaveLength(90);
  expect(most).toBe(3);
});

test("a refused entry is released with a wait, and with it the later rows of its group alone", async () => {
  // Two batches of ten, groups 0 to 4 twice in each.
  const rows = rowsOf(Array.from({ length: 20 }, (_, place) => place % 5));
  const refused = idsOf(rows)[2] ?? "";
  world.onSends(() => ({
    failed: (entry) => (idOf(entry) === refused ? { code: "InternalError", message: "x" } : undefined),
  }));
  const done = await world.send(rows);
  const later = idsOf(rows).filter((_, place) => place >= 10 && place % 5 === 2);
  expect(idsOf(done.released)).toEqual([refused, ...later]);
  expect(done.released.map(({ wait }) => wait)).toEqual([32.5, 32.5, 32.5]);
  expect(done).toMatchObject({ failed: 1, unsure: 0, refusal: "InternalError" });
  expect(done.accepted).toHaveLength(17);
});

test("the waits are spread, so that what failed together does not come back together", async () => {
  world.onSends(() => ({ failed: () => ({ code: "Throttled", message: "x" }) }));
  const done = await publish(rowsOf([1, 2, 3, 4, 5, 6, 7, 8]), {
    sqs: world.client,
    queueUrl: world.queueUrl,
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
  const calls = world.watch();
  world.onSends(() => ({ error: { status: 403, code: "AccessDenied", message: "no" } }));
  const done = await world.send(rows);
  expect(done).toMatchObject({ accepted: [], failed: 3, unsure: 0, refusal: "AccessDenied" });
  expect(idsOf(done.released)).toEqual(idsOf(rows));
  expect(calls).toEqual([]);
});

test("past the budget nothing more is sent: the rest is owed again at once", async () => {
  const rows = rowsApart(35);
  let left = 2;
  const done = await world.send(rows, { lanes: 1, mayCall: () => left-- > 0 });
  expect(idsOf(done.accepted)).toEqual(idsOf(rows).slice(0, 20));
  expect(idsOf(done.released)).toEqual(idsOf(rows).slice(20));
  expect(new Set(done.released.map(({ wait }) => wait))).toEqual(new Set([0]));
  expect(done).toMatchObject({ failed: 0, unsure: 0, refusal: null });
});
