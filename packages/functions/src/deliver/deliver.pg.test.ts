import { randomUUID } from "node:crypto";
import { cancel, claim, defaultDurations as durations, type Leased, markQueued, record } from "@owed/ledger";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { happen, owe, registerShipment } from "../../../../tests/support/shipment.ts";
import { passTime } from "../../../../tests/support/time.ts";
import {
  accepted,
  refused,
  type ScriptedChannel,
  scriptedChannel,
  throttled,
  transient,
  unknown,
} from "../testing/channel.ts";
import { acknowledged, comesAgainIn, handOver } from "../testing/deliveries.ts";
import { type RecordOptions, recordOf } from "../testing/records.ts";
import {
  countStates,
  empty,
  leaseAll,
  messageFor,
  oweAndQueue,
  oweGroupAndQueue,
  readRow,
  readRows,
  readTries,
} from "../testing/rows.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const give = (rows: Leased[], options: Parameters<typeof handOver>[2] & { message?: RecordOptions } = {}) => {
  const { message, ...more } = options;
  return handOver(
    database.ledger,
    rows.map((row) => messageFor(row, message)),
    more,
  );
};
const statesOf = async (rows: Leased[]) =>
  (
    await readRows(
      database,
      rows.map(({ id }) => id),
    )
  ).map(({ state }) => state);
const only = ([row]: Leased[]): Leased => {
  if (!row) throw new Error("nothing is owed");
  return row;
};
const oneQueued = async () => only(await oweAndQueue(database, 1));

async function claimIt(row: Leased, messageId = "M-1") {
  const [verdict] = await claim(database.ledger, durations, [
    { id: row.id, generation: row.generation, messageId, sentAt: Date.now() },
  ]);
  if (verdict?.verdict !== "claimed") throw new Error(`not claimed: ${verdict?.verdict}`);
  return verdict.token;
}
type Fate = Parameters<typeof record>[2][number]["outcome"];
async function oneThatBecame(outcome: Fate, messageId = "M-1") {
  const row = await oneQueued();
  const token = await claimIt(row, messageId);
  await record(database.ledger, durations, [{ id: row.id, token, outcome }]);
  return row;
}
const minute = 60_000;

test("the channel gets what the row is about, as the ledger has it at the claim", async () => {
  const shipment = await registerShipment(database, [], "S-request");
  const { sql } = database;
  await sql`SELECT owed.subscribe(${shipment}, 'agent-7', 'agent', 'email', 'old@example.org', 'Zoë 🚚', 'de-AT')`;
  await happen(database, shipment, "customs_hold");
  const row = only(await leaseAll(database));
  await sql`SELECT owed.subscribe(${shipment}, 'agent-7', 'agent', 'email', 'new@example.org', 'Zoë 🚚', 'de-AT')`;
  const { channel } = await give([row]);
  expect(channel.calls).toEqual([
    {
      notificationId: row.id,
      template: "customs_hold",
      role: "agent",
      address: "new@example.org",
      name: "Zoë 🚚",
      locale: "de-AT",
      shipment: {
        id: shipment,
        trackingNumber: `T-${shipment}`,
        status: "customs_hold",
        occurredAt: expect.any(Date),
      },
      merchant: { id: "M-1", name: "Shop" },
    },
  ]);
});

describe("what the worker does with a message, by its row", () => {
  type Case = {
    row: Leased;
    message?: RecordOptions;
    did: string;
    disposal: object;
    state?: string;
    called?: boolean;
  };
  const cases: [string, () => Promise<Case>][] = [
    [
      "there is none: acknowledged",
      async () => ({
        row: { id: randomUUID(), generation: 0, token: 0, group: "1" },
        did: "gone",
        disposal: acknowledged,
      }),
    ],
    [
      "its generation is another: acknowledged",
      async () => {
        const row = await oneQueued();
        return { row: { ...row, generation: 1 }, did: "stale", disposal: acknowledged, state: "queued" };
      },
    ],
    [
      "pending: sent",
      async () => {
        await owe(database, 1);
        const [row] = await database.sql<{ id: string }[]>`SELECT id FROM owed.notification`;
        const { id = "" } = row ?? {};
        return {
          row: { id, generation: 0, token: 0, group: "1" },
          did: "claimed",
          disposal: acknowledged,
          state: "delivered",
          called: true,
        };
      },
    ],
    [
      "leased (faster than the mark): sent",
      async () => {
        await owe(database, 1);
        const row = only(await leaseAll(database));
        return { row, did: "claimed", disposal: acknowledged, state: "delivered", called: true };
      },
    ],
    [
      "queued: sent",
      async () => ({
        row: await oneQueued(),
        did: "claimed",
        disposal: acknowledged,
        state: "delivered",
        called: true,
      }),
    ],
    [
      "no longer true: cancelled, acknowledged",
      async () => {
        const row = await oneQueued();
        await database.sql`
          UPDATE owed.subscriber SET opted_out_at = now() WHERE id = ${row.group}`;
        return { row, did: "cancelled", disposal: acknowledged, state: "cancelled" };
      },
    ],
    [
      "sending, its lease live: acknowledged, the other worker has it",
      async () => {
        const row = await oneQueued();
        await claimIt(row);
        return { row, did: "held", disposal: acknowledged, state: "sending" };
      },
    ],
    [
      "sending, its lease passed: unknown, acknowledged",
      async () => {
        const row = await oneQueued();
        await claimIt(row);
        await passTime(database.sql, durations.sendLease + 1);
        return { row, did: "unknown", disposal: acknowledged, state: "unknown" };
      },
    ],
    [
      "unknown: acknowledged",
      async () => ({
        row: await oneThatBecame({ kind: "unknown", reason: "TimedOut: x" }),
        did: "done",
        disposal: acknowledged,
        state: "unknown",
      }),
    ],
    [
      "delivered, 26 hours ago: acknowledged",
      async () => {
        const row = await oneThatBecame({ kind: "accepted", provider: "test", providerMessageId: "P-0" });
        await passTime(database.sql, 26 * 3600);
        return { row, did: "done", disposal: acknowledged, state: "delivered" };
      },
    ],
    [
      "cancelled: acknowledged",
      async () => {
        const row = await oneQueued();
        await cancel(database.ledger, row.id, { actor: "ana", why: "not wanted" });
        return { row, did: "done", disposal: acknowledged, state: "cancelled" };
      },
    ],
    [
      "dead by this very message: on its way to the dead-letter queue",
      async () => ({
        row: await oneThatBecame({ kind: "refused", reason: "Rejected: x" }, "M-killer"),
        message: { messageId: "M-killer" },
        did: "dying",
        disposal: comesAgainIn(0),
        state: "dead",
      }),
    ],
    [
      "dead by another message, this one sent before that: acknowledged",
      async () => ({
        row: await oneThatBecame({ kind: "exhausted", reason: "Down: x" }, "M-killer"),
        message: { messageId: "M-sibling", sentAt: Date.now() - minute },
        did: "sibling",
        disposal: acknowledged,
        state: "dead",
      }),
    ],
    [
      "dead by another message, this one sent later: a redrive, sent",
      async () => ({
        row: await oneThatBecame({ kind: "exhausted", reason: "Down: x" }, "M-killer"),
        message: { messageId: "M-redriven", sentAt: Date.now() + minute },
        did: "claimed",
        disposal: acknowledged,
        state: "delivered",
        called: true,
      }),
    ],
  ];
  test.each(cases)("%s", async (_, arrange) => {
    const { row, message = {}, did, disposal, state, called = false } = await arrange();
    const { channel, counts, disposals } = await give([row], { message });
    expect(disposals).toEqual([disposal]);
    expect(counts).toEqual(called ? { claimed: 1, accepted: 1 } : { [did]: 1 });
    expect(channel.calls).toHaveLength(called ? 1 : 0);
    if (state) expect(await statesOf([row])).toEqual([state]);
  });

  test("none of ours: acknowledged, told, and no neighbour's matter", async () => {
    const row = await oneQueued();
    const records = [recordOf("{"), messageFor(row), recordOf(JSON.stringify({ id: row.id })), recordOf("")];
    const { channel, counts, disposals, onError } = await handOver(database.ledger, records);
    expect(disposals).toEqual(Array(4).fill(acknowledged));
    expect(counts).toEqual({ malformed: 3, claimed: 1, accepted: 1 });
    expect(channel.sent()).toEqual([row.id]);
    expect(onError).toHaveBeenCalledTimes(3);
  });

  test("the same row twice in a batch: sent once", async () => {
    const row = await oneQueued();
    const { channel, counts, disposals } = await give([row, row]);
    expect(disposals).toEqual([acknowledged, acknowledged]);
    expect(counts).toEqual({ claimed: 1, held: 1, accepted: 1 });
    expect(channel.sent()).toEqual([row.id]);
  });

  test("a channel that this worker has not: refused", async () => {
    const row = await oneQueued();
    const { disposals } = await give([row], { channel: { ...scriptedChannel(), name: "sms" } });
    expect(disposals).toEqual([comesAgainIn(0)]);
    expect(await readRow(database, row.id)).toMatchObject({
      state: "dead",
      reason: "no_channel: this worker has no channel email",
    });
  });
});

describe("what the provider says", () => {
  test.each([
    [
      "accepted",
      accepted("P-1"),
      1,
      acknowledged,
      { state: "delivered", attempts: 1, evidence: "reply", provider_message_id: "P-1" },
      [],
    ],
    [
      "refused",
      refused,
      1,
      comesAgainIn(0),
      { state: "dead", attempts: 1, reason: "Rejected: no such mailbox" },
      ["refused"],
    ],
    ["transient", transient, 1, comesAgainIn(5), { state: "queued", attempts: 1, generation: 0 }, ["failed"]],
    [
      "transient on the last receive",
      transient,
      5,
      comesAgainIn(0),
      { state: "dead", reason: "Down: the request was not written" },
      ["exhausted"],
    ],
    ["unknown", unknown, 5, acknowledged, { state: "unknown", attempts: 1 }, ["unknown"]],
    [
      "throttled",
      throttled,
      5,
      acknowledged,
      { state: "pending", attempts: 0, generation: 1 },
      ["throttled"],
    ],
  ])("%s", async (_, result, receives, disposal, row, tries) => {
    const queued = await oneQueued();
    const { disposals } = await give([queued], {
      channel: scriptedChannel(() => result),
      message: { receives },
    });
    expect(disposals).toEqual([disposal]);
    expect(await readRow(database, queued.id)).toMatchObject(row);
    expect(await readTries(database, queued.id)).toEqual(tries);
  });

  test("however often it throttles, no attempt is counted, and the row is never dead", async () => {
    await owe(database, 1);
    const [{ id } = { id: "" }] = await database.sql<{ id: string }[]>`SELECT id FROM owed.notification`;
    for (let round = 0; round < 7; round += 1) {
      const row = only(await leaseAll(database));
      await markQueued(database.ledger, durations, [row]);
      // Five receives at least: the row would have died of anything else.
      await give([row], { channel: scriptedChannel(() => throttled), message: { receives: 9 } });
      expect(await readRow(database, id)).toMatchObject({
        state: "pending",
        attempts: 0,
        generation: round + 1,
      });
      await passTime(database.sql, 600);
    }
  });
});

describe("groups", () => {
  /** Lets sends go on one by one, and shows which are waiting. */
  const stepwise = () => {
    const waiting = new Map<string, (result: undefined) => void>();
    const channel = scriptedChannel(({ notificationId }) => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      waiting.set(notificationId, resolve);
      return promise;
    });
    const end = (id: string) => {
      waiting.get(id)?.(undefined);
      waiting.delete(id);
    };
    return { channel, waiting, end };
  };

  test("are sent side by side, and the rows of each in their order", async () => {
    const groups = [
      await oweGroupAndQueue(database, 3),
      await oweGroupAndQueue(database, 3),
      await oweGroupAndQueue(database, 2),
    ];
    // Mixed, as a batch may have them.
    const mixed = [0, 1, 2].flatMap((place) => groups.flatMap((group) => group[place] ?? []));
    const { channel, waiting, end } = stepwise();
    const delivery = give(mixed, { channel });
    for (const place of [0, 1, 2]) {
      const turn = groups.flatMap((group) => group[place]?.id ?? []);
      await vi.waitFor(() => expect([...waiting.keys()].toSorted()).toEqual(turn.toSorted()));
      for (const id of turn) end(id);
    }
    expect((await delivery).counts).toEqual({ claimed: 8, accepted: 8 });
    for (const group of groups)
      expect(channel.sent().filter((id) => group.some((row) => row.id === id))).toEqual(
        group.map(({ id }) => id),
      );
  });

  test("a slow group holds up no other one", async () => {
    const slow = await oweGroupAndQueue(database, 2);
    const fast = await oweGroupAndQueue(database, 3);
    const gate = Promise.withResolvers<undefined>();
    const channel = scriptedChannel(({ notificationId }) =>
      notificationId === slow[0]?.id ? gate.promise : undefined,
    );
    const delivery = give([...slow, ...fast], { channel });
    await vi.waitFor(async () => expect(await statesOf(fast)).toEqual(Array(3).fill("delivered")));
    expect(await statesOf(slow)).toEqual(["sending", "sending"]);
    gate.resolve(undefined);
    expect((await delivery).disposals).toEqual(Array(5).fill(acknowledged));
  });

  test.each([
    ["refused", refused, 1, "dead", comesAgainIn(0)],
    ["failed for now", transient, 1, "queued", comesAgainIn(5)],
    ["exhausted", transient, 5, "dead", comesAgainIn(0)],
  ])(
    "a row that is %s: the later ones are not called, and come again as new messages",
    async (_, result, receives, state, disposal) => {
      const group = await oweGroupAndQueue(database, 5);
      const other = await oneQueued();
      const [, poison] = group;
      const channel = scriptedChannel(({ notificationId }) =>
        notificationId === poison?.id ? result : undefined,
      );
      const { counts, disposals } = await give([...group, other], { channel, message: { receives } });
      expect(channel.sent().toSorted()).toEqual([...group.slice(0, 2), other].map(({ id }) => id).toSorted());
      expect(disposals).toEqual([
        acknowledged,
        disposal,
        acknowledged,
        acknowledged,
        acknowledged,
        acknowledged,
      ]);
      expect(counts).toMatchObject({ claimed: 6, accepted: 2, notCalled: 3 });
      expect(await statesOf([...group, other])).toEqual([
        "delivered",
        state,
        "pending",
        "pending",
        "pending",
        "delivered",
      ]);
      for (const row of await readRows(
        database,
        group.slice(2).map(({ id }) => id),
      )) {
        expect(row).toMatchObject({ state: "pending", attempts: 0, generation: 1, reason: null });
        expect(await readTries(database, row.id)).toEqual([]);
      }
      // They are owed now: the next sweep takes them, in their order.
      expect((await leaseAll(database)).map(({ id }) => id)).toEqual(group.slice(2).map(({ id }) => id));
    },
  );

  test.each([
    ["unknown", unknown, "unknown"],
    ["throttled", throttled, "pending"],
  ])("a row that is %s holds nobody back", async (_, result, state) => {
    const group = await oweGroupAndQueue(database, 3);
    const channel = scriptedChannel((_request, call) => (call === 1 ? result : undefined));
    const { disposals } = await give(group, { channel });
    expect(disposals).toEqual(Array(3).fill(acknowledged));
    expect(await statesOf(group)).toEqual([state, "delivered", "delivered"]);
  });
});

describe("the clocks are looked at right before each call", () => {
  const start = { wall: 1_774_776_600_000, monotonic: 1000 };
  /** Time that passes, by the clocks given, from the second look on. */
  const after = (later: typeof start) => {
    let looks = 0;
    return () => (looks++ === 0 ? start : later);
  };
  const notCalled = async (options: Parameters<typeof give>[1]) => {
    const rows = await oweAndQueue(database, 2);
    const { channel, counts, disposals } = await give(rows, options);
    expect({ calls: channel.calls, counts, disposals }).toEqual({
      calls: [],
      counts: { claimed: 2, notCalled: 2 },
      disposals: [acknowledged, acknowledged],
    });
    for (const row of await readRows(
      database,
      rows.map(({ id }) => id),
    ))
      expect(row).toMatchObject({ state: "pending", attempts: 0, generation: 1 });
  };

  test("a frozen worker, whose wall clock shows that it was, does not call", async () => {
    await notCalled({ clocks: after({ ...start, wall: start.wall + 45_000 }) });
  });
  test("nor one whose monotonic clock alone shows it", async () => {
    await notCalled({ clocks: after({ ...start, monotonic: start.monotonic + 45_000 }) });
  });
  test("nor one whose wall clock was set back by as much: it shows nothing", async () => {
    await notCalled({ clocks: after({ ...start, wall: start.wall - 3_600_000 }) });
  });
  test("nor one whose invocation ends before a call and its record would", async () => {
    await notCalled({ remaining: () => 15 });
  });

  test("with a moment left on all of them it calls", async () => {
    const row = await oneQueued();
    const clocks = after({ wall: start.wall + 44_000, monotonic: start.monotonic + 44_000 });
    const { channel } = await give([row], { clocks, remaining: () => 16 });
    expect(channel.sent()).toEqual([row.id]);
  });

  test("the rest of a group whose time runs out is given back", async () => {
    const group = await oweGroupAndQueue(database, 3);
    let left = 30;
    const channel: ScriptedChannel = scriptedChannel(() => {
      left = 15;
      return undefined;
    });
    const { counts, disposals } = await give(group, { channel, remaining: () => left });
    expect(counts).toEqual({ claimed: 3, accepted: 1, notCalled: 2 });
    expect(disposals).toEqual(Array(3).fill(acknowledged));
    expect(await countStates(database)).toEqual({ delivered: 1, pending: 2 });
  });
});
