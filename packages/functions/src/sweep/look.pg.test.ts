import { defaultDurations as durations, record } from "@owed/ledger";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { owe } from "../../../../tests/support/shipment.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { countStates, oweAndQueue, readRow, readRows, readTries } from "../testing/rows.ts";
import { countStatements } from "../testing/statements.ts";
import { type Sweeping, startSweeping } from "../testing/sweeps.ts";

let world: Sweeping;
beforeAll(async () => {
  world = await startSweeping();
});
beforeEach(() => world.reset());
afterAll(() => world.stop());

describe("rows whose outcome is unknown", () => {
  const anUnknownRow = async () => {
    const [row] = await oweAndQueue(world.database, 1);
    const id = row?.id ?? "";
    const [verdict] = await world.claim([{ id, generation: 0 }]);
    if (verdict?.verdict !== "claimed") throw new Error("the worker could not claim");
    const unknown = { kind: "unknown", reason: "TimedOut: no answer" } as const;
    await record(world.database.ledger, durations, [{ id, token: verdict.token, outcome: unknown }]);
    return id;
  };

  test("wait for the provider's events while these are backed up; then they are sent again, and counted", async () => {
    const id = await anUnknownRow();
    await passTime(world.database.sql, durations.grace + 1);
    await world.cloud.sqs.send(world.cloud.queues.feedback.url, {
      MessageBody: "an event that may be about it",
    });
    for (const _ of [1, 2]) expect(await world.swept()).toMatchObject({ resent: 0, published: 0 });
    expect(await readRow(world.database, id)).toMatchObject({ state: "unknown", generation: 0 });
    await world.cloud.purge(world.cloud.queues.feedback.url);
    expect(await world.swept()).toMatchObject({ resent: 1, published: 1 });
    expect(await readRow(world.database, id)).toMatchObject({ state: "queued", generation: 1, resends: 1 });
    expect(await readTries(world.database, id)).toEqual(["unknown", "resent"]);
  });

  /** Events that the consumer has received and not finished, or given back for later. */
  const hideEvents = async (events: number) => {
    const { url } = world.cloud.queues.feedback;
    for (let from = 0; from < events; from += 10) {
      const Entries = Array.from({ length: Math.min(10, events - from) }, (_, place) => ({
        Id: `${place}`,
        MessageBody: "an event",
      }));
      await world.cloud.sqs.batch(url, Entries);
      expect(await world.swept()).toMatchObject({ resent: 0 });
      await world.cloud.sqs.receive(url);
    }
  };

  test.each([
    ["also while more events are hidden than the consumer can have in flight", 21, 0],
    ["not for those that it may be working on", 20, 1],
  ])("%s", async (_, events, resent) => {
    const id = await anUnknownRow();
    await passTime(world.database.sql, durations.grace + 1);
    await hideEvents(events);
    expect(await world.swept()).toMatchObject({ resent });
    expect(await readRow(world.database, id)).toMatchObject({ state: resent === 0 ? "unknown" : "queued" });
  });

  test.each([
    ["sweeps have not followed one another for long enough", "heartbeat SET beating_since = now()"],
    ["evidence came late, a moment ago", "channel SET evidence_late_at = now()"],
  ])("also while %s: then the events that were given back have come", async (_, cause) => {
    const id = await anUnknownRow();
    await passTime(world.database.sql, durations.grace + 1);
    await world.database.sql.unsafe(`UPDATE owed.${cause}`);
    const calls = world.cloud.calls("GetQueueAttributes");
    await owe(world.database, 1);
    expect(await world.swept()).toMatchObject({ resent: 0, published: 1 });
    // Whatever the queue says, it proves nothing yet.
    expect(calls).toEqual([]);
    await passTime(world.database.sql, durations.settle - 10);
    expect(await world.swept()).toMatchObject({ resent: 0 });
    await passTime(world.database.sql, 11);
    expect(await world.swept()).toMatchObject({ resent: 1 });
    expect(await readRow(world.database, id)).toMatchObject({ state: "queued", generation: 1 });
  });

  test("also while the feedback queue does not say what it holds, and nobody else waits", async () => {
    const id = await anUnknownRow();
    await passTime(world.database.sql, durations.grace + 1);
    await owe(world.database, 2);
    const answers = world.cloud.fail("GetQueueAttributes", {
      error: { status: 403, code: "AccessDenied", message: "no" },
    });
    expect(await world.swept()).toMatchObject({ resent: 0, published: 2 });
    expect(world.onError).toHaveBeenCalledExactlyOnceWith(
      "a queue did not say how many messages it holds",
      expect.objectContaining({ name: "AccessDenied" }),
    );
    expect(await readRow(world.database, id)).toMatchObject({ state: "unknown" });
    answers();
    expect(await world.swept()).toMatchObject({ resent: 1, published: 1 });
  });

  test("do not hold up what else is owed", async () => {
    const id = await anUnknownRow();
    await passTime(world.database.sql, durations.grace + 1);
    await world.cloud.sqs.send(world.cloud.queues.feedback.url, { MessageBody: "an event" });
    await owe(world.database, 3);
    expect(await world.swept({ sweep: { slice: 1 } })).toMatchObject({ resent: 0, published: 3 });
    expect(await readRow(world.database, id)).toMatchObject({ state: "unknown" });
  });

  test("a worker that vanished is found: its row waits for evidence first", async () => {
    const rows = await oweAndQueue(world.database, 2);
    await world.claim(rows);
    await passTime(world.database.sql, durations.lostAfter + 1);
    expect(await world.swept()).toMatchObject({ unknown: 2, resent: 0, published: 0 });
    const found = await readRows(
      world.database,
      rows.map(({ id }) => id),
    );
    expect(found.map(({ state, reason }) => [state, reason])).toEqual(
      Array(2).fill(["unknown", "no_outcome: the worker vanished before it recorded one"]),
    );
  });

  test("as many as there are, slice by slice: each look is a statement, and no queue is asked about them", async () => {
    const rows = await oweAndQueue(world.database, 25);
    await world.claim(rows);
    await passTime(world.database.sql, durations.lostAfter + 1);
    const calls = world.cloud.calls("GetQueueAttributes");
    // Beside them the heartbeat is taken and given back.
    expect(await countStatements(world.database, () => world.swept({ sweep: { slice: 10 } }))).toBe(3 + 2);
    expect(await countStates(world.database)).toEqual({ unknown: 25 });
    expect(calls).toEqual([]);
  });
});
