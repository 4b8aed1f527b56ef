import { randomUUID } from "node:crypto";
import { cancel, defaultDurations as durations, type Leased, Ledger } from "@owed/ledger";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { owe } from "../../../../tests/support/shipment.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { scriptedChannel } from "../testing/channel.ts";
import { give, handOver } from "../testing/deliveries.ts";
import { acknowledged, comesAgainIn } from "../testing/disposals.ts";
import { claimRow, oweOneThatBecame } from "../testing/fates.ts";
import { type RecordOptions, recordOf } from "../testing/records.ts";
import {
  empty,
  leaseAll,
  messageFor,
  only,
  oweAndQueue,
  oweOneAndQueue,
  readRow,
  statesOf,
} from "../testing/rows.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const minute = 60_000;

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
        const row = await oweOneAndQueue(database);
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
        row: await oweOneAndQueue(database),
        did: "claimed",
        disposal: acknowledged,
        state: "delivered",
        called: true,
      }),
    ],
    [
      "no longer true: cancelled, acknowledged",
      async () => {
        const row = await oweOneAndQueue(database);
        await database.sql`
          UPDATE owed.subscriber SET opted_out_at = now() WHERE id = ${row.group}`;
        return { row, did: "cancelled", disposal: acknowledged, state: "cancelled" };
      },
    ],
    [
      "sending, its lease live: acknowledged, the other worker has it",
      async () => {
        const row = await oweOneAndQueue(database);
        await claimRow(database, row);
        return { row, did: "held", disposal: acknowledged, state: "sending" };
      },
    ],
    [
      "sending, its lease passed: unknown, acknowledged",
      async () => {
        const row = await oweOneAndQueue(database);
        await claimRow(database, row);
        await passTime(database.sql, durations.sendLease + 1);
        return { row, did: "unknown", disposal: acknowledged, state: "unknown" };
      },
    ],
    [
      "unknown: acknowledged",
      async () => ({
        row: await oweOneThatBecame(database, { kind: "unknown", reason: "TimedOut: x" }),
        did: "done",
        disposal: acknowledged,
        state: "unknown",
      }),
    ],
    [
      "delivered, 26 hours ago: acknowledged",
      async () => {
        const row = await oweOneThatBecame(database, {
          kind: "accepted",
          provider: "test",
          providerMessageId: "P-0",
        });
        await passTime(database.sql, 26 * 3600);
        return { row, did: "done", disposal: acknowledged, state: "delivered" };
      },
    ],
    [
      "cancelled: acknowledged",
      async () => {
        const row = await oweOneAndQueue(database);
        await cancel(database.ledger, row.id, { actor: "ana", why: "not wanted" });
        return { row, did: "done", disposal: acknowledged, state: "cancelled" };
      },
    ],
    [
      "dead by this very message: on its way to the dead-letter queue",
      async () => ({
        row: await oweOneThatBecame(database, { kind: "refused", reason: "Rejected: x" }, "M-killer"),
        message: { messageId: "M-killer" },
        did: "dying",
        disposal: comesAgainIn(0),
        state: "dead",
      }),
    ],
    [
      "dead by another message, this one sent before that: acknowledged",
      async () => ({
        row: await oweOneThatBecame(database, { kind: "exhausted", reason: "Down: x" }, "M-killer"),
        message: { messageId: "M-sibling", sentAt: Date.now() - minute },
        did: "sibling",
        disposal: acknowledged,
        state: "dead",
      }),
    ],
    [
      "dead by another message, this one sent later: a redrive, sent",
      async () => ({
        row: await oweOneThatBecame(database, { kind: "exhausted", reason: "Down: x" }, "M-killer"),
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
    const { channel, counts, disposals } = await give(database, [row], { message });
    expect(disposals).toEqual([disposal]);
    expect(counts).toEqual(called ? { claimed: 1, accepted: 1 } : { [did]: 1 });
    expect(channel.calls).toHaveLength(called ? 1 : 0);
    if (state) expect(await statesOf(database, [row])).toEqual([state]);
  });

  test("none of ours: acknowledged, told, and no neighbour's matter", async () => {
    const row = await oweOneAndQueue(database);
    const records = [recordOf("{"), messageFor(row), recordOf(JSON.stringify({ id: row.id })), recordOf("")];
    const { channel, counts, disposals, onError } = await handOver(database.ledger, records);
    expect(disposals).toEqual(Array(4).fill(acknowledged));
    expect(counts).toEqual({ malformed: 3, claimed: 1, accepted: 1 });
    expect(channel.sent()).toEqual([row.id]);
    expect(onError).toHaveBeenCalledTimes(3);
  });

  test("a row that somebody keeps locked: looked at again soon, and the others are sent", async () => {
    const [locked, free] = await oweAndQueue(database, 2);
    const impatient = new Ledger({ ...database.options, deadline: 1 });
    await database.sql.begin(async (transaction) => {
      await transaction`SELECT FROM owed.notification WHERE id = ${locked?.id ?? ""} FOR UPDATE`;
      const rows = [locked, free].flatMap((row) => row ?? []);
      const { counts, disposals } = await give({ ledger: impatient }, rows);
      expect(counts).toEqual({ busy: 1, claimed: 1, accepted: 1 });
      expect(disposals).toEqual([comesAgainIn(10), acknowledged]);
    });
    await impatient.close();
  });

  test("the same row twice in a batch: sent once", async () => {
    const row = await oweOneAndQueue(database);
    const { channel, counts, disposals } = await give(database, [row, row]);
    expect(disposals).toEqual([acknowledged, acknowledged]);
    expect(counts).toEqual({ claimed: 1, held: 1, accepted: 1 });
    expect(channel.sent()).toEqual([row.id]);
  });

  test("a channel that this worker has not: refused", async () => {
    const row = await oweOneAndQueue(database);
    const { disposals } = await give(database, [row], { channel: { ...scriptedChannel(), name: "sms" } });
    expect(disposals).toEqual([comesAgainIn(0)]);
    expect(await readRow(database, row.id)).toMatchObject({
      state: "dead",
      reason: "no_channel: this worker has no channel email",
    });
  });
});
