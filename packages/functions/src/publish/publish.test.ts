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
  const rows = rowsOf(Array.from({ length: 20 }, (_, place) => place % 5));
  const [, , refused = ""] = idsOf(rows);
  world.onSends(() => ({
    failed: (entry) => (idOf(entry) === refused ? { code: "InternalError", message: "x" } : undefined),
  }));
  const done = await world.send(rows);
  expect(idsOf(done.released)).toEqual(idsOf(rows).filter((_, place) => place % 5 === 2));
  expect(done.released.map(({ wait }) => wait)).toEqual(Array(4).fill(32.5));
  expect(done).toMatchObject({ failed: 1, unsure: 0, refusal: "InternalError" });
  expect(done.accepted).toHaveLength(16);
});

test("a group whose head was refused is held in the sweep's later slices as well, as long as its head", async () => {
  const held = new Map<string, number>();
  world.onSends((_, call) =>
    call === 0 ? { failed: () => ({ code: "Throttled", message: "x" }) } : undefined,
  );
  await world.send(rowsOf(["a"]), { held });
  const [later, other] = rowsOf(["a", "b"]);
  const done = await world.send(
    [later, other].flatMap((row) => row ?? []),
    { held, random: () => 0.9 },
  );
  expect(done.released).toEqual([{ ...later, wait: 32.5 }]);
  expect(done.accepted).toEqual([other]);
  expect(done.failed).toBe(0);
});

test("the waits are spread, so that what failed together does not come back together", async () => {
  world.onSends(() => ({ failed: () => ({ code: "Throttled", message: "x" }) }));
  const done = await publish(rowsOf([1, 2, 3, 4, 5, 6, 7, 8]), {
    sqs: world.client,
    queueUrl: world.queueUrl,
    lanes: 4,
    held: new Map(),
    lease: 120,
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
  let calls = 0;
  world.onSends((_, call) => {
    calls = call + 1;
    return undefined;
  });
  const done = await world.send(rows, { lanes: 1, mayCall: () => calls < 2 });
  expect(idsOf(done.accepted)).toEqual(idsOf(rows).slice(0, 20));
  expect(idsOf(done.released)).toEqual(idsOf(rows).slice(20));
  expect(new Set(done.released.map(({ wait }) => wait))).toEqual(new Set([0]));
  expect(done).toMatchObject({ failed: 0, unsure: 0, refusal: null });
});

test("the next slice goes in the lanes that the last calls leave, but for the rows of their groups", async () => {
  const [first, second] = [rowsApart(20), [...rowsApart(10), ...rowsOf(["more"])].reverse()];
  const late = Promise.withResolvers<void>();
  // The first slice's second batch has the groups 10 to 19, the next slice's first batch those of 1 to 9.
  const calls = world.watch();
  world.onSends((ids) => (ids.includes(first[15]?.id ?? "") ? { hold: late.promise } : undefined));
  const publisher = world.publisher({ lanes: 2 });
  const slow = publisher.publish(first);
  expect(await slow.begun).toBe(true);
  const other = publisher.publish(second);
  expect((await other.done).accepted).toHaveLength(11);
  const same = publisher.publish(rowsOf([15]));
  // Whatever may go goes before this one.
  await publisher.publish(rowsOf(["last"])).done;
  const before = calls.flat();
  late.resolve();
  const [row] = (await same.done).accepted;
  expect(before).not.toContain(row?.id);
  expect(calls.flat().indexOf(row?.id ?? "")).toBeGreaterThan(calls.flat().indexOf(first[15]?.id ?? ""));
});

test("a slice that the queue refuses as a whole says so before another one is given", async () => {
  world.onSends(() => ({ error: { status: 403, code: "AccessDenied", message: "no" } }));
  expect(await world.publisher().publish(rowsApart(30)).begun).toBe(false);
  world.sqs.faults.clear();
  expect(await world.publisher().publish([]).begun).toBe(true);
});
