import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { owe } from "../../../../tests/support/shipment.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { openBreaker } from "../testing/channels.ts";
import { statesInOrder } from "../testing/rows.ts";
import { publishedIds, type Sweeping, startSweeping } from "../testing/sweeps.ts";

let world: Sweeping;
beforeAll(async () => {
  world = await startSweeping();
});
beforeEach(() => world.reset());
afterAll(() => world.stop());

describe("a backlog of 500, by one a second", () => {
  const rate = { sweep: { lanes: 1 }, limits: { email: { rate: 1 } } };
  /** Lets what is owed grow older. */
  const age = (seconds: number) => world.database.sql`
    UPDATE owed.notification SET due_at = due_at - make_interval(secs => ${seconds}), owed_at = owed_at - make_interval(secs => ${seconds})
    WHERE state = 'pending'`;
  /** What the queue has is delivered: a minute of work. */
  const work = () => world.database.sql`DELETE FROM owed.notification WHERE state = 'queued'`;

  test("fresh rows go first, the backlog gets the rest of the minute, oldest first, and what is left is told", {
    timeout: 60_000,
  }, async () => {
    await owe(world.database, 500);
    await age(3600);
    await owe(world.database, 10);
    const calls = world.cloud.calls("SendMessageBatch");
    const fresh = await world.database.sql<{ id: string }[]>`
      SELECT id FROM owed.notification ORDER BY due_at DESC, id DESC LIMIT 10`;
    const summary = await world.swept(rate);
    expect(summary).toMatchObject({ published: 60, leased: 60, owed: 450 });
    // 510 rows by one a second.
    expect(summary.timeToDrain).toBeCloseTo(510);
    const sent = publishedIds(calls);
    expect(sent.slice(0, 10).toSorted()).toEqual(fresh.map(({ id }) => id).toSorted());
    expect(await statesInOrder(world.database, "email")).toBe("queued 50, pending 450, queued 10");

    // The queue is shallow: until it has been worked off, nothing is added.
    expect(await world.swept(rate)).toMatchObject({ published: 0, leased: 0 });
    await work();
    // More fresh rows than their part: the backlog still gets the other half.
    await age(200);
    await owe(world.database, 100);
    expect(await world.swept(rate)).toMatchObject({ published: 60 });
    expect(await statesInOrder(world.database, "email")).toBe(
      "queued 30, pending 420, queued 30, pending 70",
    );
    // No fresh ones: the backlog gets all of it.
    await work();
    await age(200);
    expect(await world.swept(rate)).toMatchObject({ published: 60 });
    expect(await statesInOrder(world.database, "email")).toBe("queued 60, pending 430");
  });

  test("while its channel is closed nothing is leased; then ten probe it, and no more", async () => {
    await owe(world.database, 100);
    await openBreaker(world.database);
    expect(await world.swept(rate)).toMatchObject({ leased: 0, owed: 100 });
    await passTime(world.database.sql, 31);
    expect(await world.swept(rate)).toMatchObject({ leased: 10, published: 10, owed: 90 });
  });
});
