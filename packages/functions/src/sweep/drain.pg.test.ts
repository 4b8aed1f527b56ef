import type { SQSClient } from "@aws-sdk/client-sqs";
import { closeChannel, Ledger, type Share } from "@owed/ledger";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { happen, owe, registerShipment, tellEveryUpdate } from "../../../../tests/support/shipment.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { parseSettings } from "../settings.ts";
import { createSqsClient } from "../sqs.ts";
import { oweBySms } from "../testing/channels.ts";
import { countStates, statesInOrder } from "../testing/rows.ts";
import { countStatements } from "../testing/statements.ts";
import { publishedIds, type Sweeping, startSweeping } from "../testing/sweeps.ts";
import { type Drained, drain } from "./drain.ts";

let world: Sweeping;
let sqs: SQSClient;
beforeAll(async () => {
  world = await startSweeping();
  sqs = createSqsClient(4);
});
beforeEach(() => world.reset());
afterAll(async () => {
  sqs.destroy();
  await world.stop();
});

const email = (most: number): Share => ({ channel: "email", most });
const sms = (most: number): Share => ({ channel: "sms", most });

type Options = {
  slice?: number;
  fresh?: number | null;
  since?: string | null;
  inTime?: () => boolean;
  ledger?: Ledger;
};

async function drained(shares: Share[], options: Options = {}) {
  const { slice = 10, fresh = null, since = null, inTime = () => true } = options;
  const { ledger = world.database.ledger } = options;
  const totals: Drained = {
    ...{ leased: 0, published: 0, failed: 0, unsure: 0, fenced: 0, cancelled: 0, slices: 0, refusal: null },
  };
  const settings = parseSettings({ sweep: { slice } });
  const notificationQueueUrl = world.cloud.queues.notification.url;
  const context = {
    ledger,
    sqs,
    notificationQueueUrl,
    settings,
    held: new Map<string, number>(),
    onTheWay: null,
    own: [],
    since,
    inTime,
  };
  return { left: await drain(context, shares, fresh, totals), totals };
}

describe("two channels", () => {
  test("get their shares, oldest first; one that has fewer rows leaves the rest of its own", async () => {
    await owe(world.database, 30);
    await oweBySms(world.database, 7);
    const { left, totals } = await drained([email(12), sms(50)]);
    expect(totals).toMatchObject({ leased: 19, published: 19, failed: 0 });
    expect(left).toEqual([email(0), sms(43)]);
    expect(await statesInOrder(world.database, "email")).toBe("queued 12, pending 18");
    expect(await statesInOrder(world.database, "sms")).toBe("queued 7");
  });

  test("one that has no share gets nothing, and one that is closed nothing either", async () => {
    await owe(world.database, 5);
    await oweBySms(world.database, 5);
    expect((await drained([sms(50)])).totals).toMatchObject({ leased: 5 });
    expect(await statesInOrder(world.database, "email")).toBe("pending 5");
    await closeChannel(world.database.ledger, "email", { actor: "ana", why: "a wrong text" });
    expect(await drained([email(50), sms(50)])).toMatchObject({
      totals: { leased: 0 },
      left: [email(50), sms(50)],
    });
    expect(await statesInOrder(world.database, "email")).toBe("pending 5");
  });

  test("the backlog of one does not hold up the other, whose rows are all newer", async () => {
    await owe(world.database, 100);
    await passTime(world.database.sql, 3600);
    await oweBySms(world.database, 4);
    const calls = world.cloud.calls("SendMessageBatch");
    await drained([email(100), sms(100)]);
    const bySms = await world.database.sql<{ id: string }[]>`
      SELECT id FROM owed.notification WHERE channel = 'sms'`;
    // Half of the first slice is for each.
    expect(publishedIds(calls).slice(0, 9)).toEqual(expect.arrayContaining(bySms.map(({ id }) => id)));
  });

  test("without a share nothing is asked", async () => {
    await owe(world.database, 5);
    expect(await countStatements(world.database, () => drained([]))).toBe(0);
    expect(await countStatements(world.database, () => drained([email(0)]))).toBe(0);
  });
});

describe("the end of the shares, or of what is due, is the end: each slice is a lease and a mark", () => {
  test.each<[string, number, Share[], number]>([
    ["nothing due", 0, [email(50)], 1],
    ["a short slice", 7, [email(50)], 2],
    // Where the first slices began something may have become due meanwhile: two looks more.
    ["two slices and a short one", 25, [email(50)], 8],
    ["shares that end with a slice", 25, [email(20)], 4],
    ["shares that end within one", 25, [email(13)], 4],
    ["two channels, both short", 3, [email(50), sms(50)], 2],
  ])("%s", async (_, rows, shares, statements) => {
    if (rows > 0) await owe(world.database, rows);
    expect(await countStatements(world.database, () => drained(shares))).toBe(statements);
  });
});

test("a row that is cancelled uses up no share", async () => {
  await owe(world.database, 20);
  await world.database.sql`
    UPDATE owed.subscriber SET opted_out_at = now() WHERE id IN (
      SELECT subscriber_id FROM owed.notification ORDER BY due_at, id LIMIT 6)`;
  const { left, totals } = await drained([email(10)], { slice: 4 });
  expect(totals).toMatchObject({ leased: 10, published: 10, cancelled: 6 });
  expect(left).toEqual([email(0)]);
  expect(await statesInOrder(world.database, "email")).toBe("cancelled 6, queued 10, pending 4");
});

test("fresh rows alone, when asked for them: what became owed within so many seconds", async () => {
  await owe(world.database, 5);
  await passTime(world.database.sql, 130);
  await owe(world.database, 5);
  const { left, totals } = await drained([email(8)], { fresh: 120, slice: 2 });
  expect(totals).toMatchObject({ published: 5 });
  expect(left).toEqual([email(3)]);
  expect(await statesInOrder(world.database, "email")).toBe("pending 5, queued 5");
});

test("starts where the oldest row was owed when the sweep began: what is put back before it is for the next beat", async () => {
  await owe(world.database, 25);
  await passTime(world.database.sql, 600);
  await owe(world.database, 25);
  const [newer] = await world.database.sql<{ since: string }[]>`
    SELECT min(owed_at)::text AS since FROM owed.notification WHERE owed_at > now() - interval '300 s'`;
  const { totals } = await drained([email(100)], { since: newer?.since ?? "" });
  expect(totals).toMatchObject({ published: 25 });
  expect(await statesInOrder(world.database, "email")).toBe("pending 25, queued 25");
  expect(await world.swept()).toMatchObject({ published: 25 });
});

describe("a lease that fails", () => {
  /** Fails at one of its statements. */
  class FailingLedger extends Ledger {
    at = 0;
    statements = 0;
    override async run<T>(...args: Parameters<typeof Ledger.prototype.run<T>>): Promise<T> {
      this.statements += 1;
      if (this.statements === this.at) throw new Error("the database is away");
      return super.run(...args);
    }
  }
  /** Half of 30 rows in a beat for fresh ones, of which there are ten. */
  const scarce = { sweep: { slice: 5, lanes: 1 }, limits: { email: { rate: 0.5 } } };
  const backlogAndFresh = async () => {
    await owe(world.database, 40);
    await passTime(world.database.sql, 3600);
    await owe(world.database, 10);
  };

  test.each<[string, number, string]>([
    ["the first of the fresh rows", 3, "pending 50"],
    ["one while fresh rows are published: these are marked", 4, "pending 40, queued 5, pending 5"],
  ])("%s: the sweep fails, and leaves nothing leased or running", async (_, at, states) => {
    await backlogAndFresh();
    const ledger = new FailingLedger(world.database.options);
    ledger.at = at;
    await expect(world.run(scarce, 60, ledger)).rejects.toThrow("the database is away");
    await ledger.close();
    expect(await statesInOrder(world.database, "email")).toBe(states);
    // The heartbeat is free, and the next beat fills the queue.
    expect(await world.swept(scarce)).toMatchObject({ swept: true, owed: 20 });
    expect(await countStates(world.database)).toEqual({ pending: 20, queued: 30 });
  });

  test("a queue that refuses everything is not tried again for the backlog", async () => {
    await backlogAndFresh();
    let calls = 0;
    world.cloud.sqs.faults.add(({ action }) => {
      if (action !== "SendMessageBatch") return undefined;
      calls += 1;
      return { error: { status: 403, code: "AccessDenied", message: "no" } };
    });
    const summary = await world.swept({ ...scarce, sweep: { lanes: 1 } });
    expect(summary).toMatchObject({
      leased: 10,
      published: 0,
      failed: 10,
      refusal: "AccessDenied",
      owed: 40,
    });
    expect(calls).toBe(1);
  });

  test("when the budget ends with the fresh rows, the backlog is left alone", async () => {
    await backlogAndFresh();
    world.cloud.fail("SendMessageBatch", { delay: 1600 });
    const summary = await world.swept({ ...scarce, sweep: { lanes: 1 } }, 6.5);
    expect(summary).toMatchObject({ leased: 10, published: 10, owed: 40 });
  });
});

test("a group whose fresh row was refused does not send its older one past it, from the backlog", async () => {
  const shipment = await registerShipment(world.database);
  await happen(world.database, shipment, "out_for_delivery");
  // Somebody wants the older one once more, whatever is newer.
  await world.database.sql`UPDATE owed.notification SET replays = id`;
  await owe(world.database, 60);
  await passTime(world.database.sql, 3600);
  await happen(world.database, shipment, "out_for_delivery");
  const [fresh] = await world.database.sql<{ id: string }[]>`
    SELECT id FROM owed.notification ORDER BY due_at DESC LIMIT 1`;
  world.cloud.fail("SendMessageBatch", {
    failed: (entry) =>
      String(entry.MessageBody).includes(fresh?.id ?? "")
        ? { code: "InternalError", message: "x" }
        : undefined,
  });
  // Its neighbour, that the queue does not refuse: the sweep goes on with the backlog.
  await owe(world.database, 1);
  expect(await world.swept({ limits: { email: { rate: 0.5 } } })).toMatchObject({ failed: 1, published: 28 });
  expect(await statesInOrder(world.database, "email")).toBe("pending 1, queued 27, pending 34, queued 1");
  const [waits] = await world.database.sql`
    SELECT count(DISTINCT owed_at)::int AS times, min(owed_at) > now() AS later FROM owed.notification
    WHERE subscriber_id = (SELECT subscriber_id FROM owed.notification WHERE id = ${fresh?.id ?? ""})`;
  expect(waits).toMatchObject({ later: true });
});

describe("the order of a group", () => {
  /** So many statuses for one recipient, each of which is told; the ids of their rows, oldest first. */
  async function group(rows: number): Promise<string[]> {
    const shipment = await registerShipment(world.database);
    await tellEveryUpdate(world.database, shipment);
    for (let ago = rows; ago > 0; ago -= 1) await happen(world.database, shipment, "out_for_delivery", ago);
    const told = await world.database.sql<{ id: string }[]>`SELECT id FROM owed.notification ORDER BY id`;
    return told.map(({ id }) => id);
  }

  test.each([1, 2])("from slice to slice of %d: all of it goes in one sweep", async (slice) => {
    const ids = await group(5);
    const calls = world.cloud.calls("SendMessageBatch");
    expect((await drained([email(50)], { slice })).totals).toMatchObject({
      published: 5,
      unsure: 0,
      failed: 0,
    });
    expect(publishedIds(calls)).toEqual(ids);
  });

  test("whose first row ingest has on its way: the rest waits, the others go, and the sweep ends", async () => {
    const [first = "", ...rest] = await group(3);
    await world.database.sql`
      UPDATE owed.notification SET state = 'leased', lease_token = 1, leased_until = now() + interval '2 minutes',
        owed_at = now() + interval '2 minutes' WHERE id = ${first}`;
    await owe(world.database, 25);
    expect(await drained([email(50)])).toMatchObject({ left: [email(25)], totals: { published: 25 } });
    await world.database
      .sql`UPDATE owed.notification SET state = 'queued', queued_at = now() WHERE id = ${first}`;
    const calls = world.cloud.calls("SendMessageBatch");
    expect((await drained([email(50)])).totals).toMatchObject({ published: 2 });
    expect(publishedIds(calls)).toEqual(rest);
  });
});
