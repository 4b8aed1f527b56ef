import { defaultDurations as durations, Ledger } from "@owed/ledger";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { refused, scriptedChannel } from "../testing/channel.ts";
import { handOver } from "../testing/deliveries.ts";
import { acknowledged, comesAgainIn } from "../testing/disposals.ts";
import { type Gate, startGate } from "../testing/gate.ts";
import {
  countStates,
  empty,
  messageFor,
  oweAndQueue,
  oweOneAndQueue,
  readRow,
  readRows,
} from "../testing/rows.ts";
import { countStatements } from "../testing/statements.ts";
import { until } from "../testing/until.ts";

let database: TestDatabase;
/** The way to the database, and a ledger behind it. */
let gate: Gate;
let ledger: Ledger;
beforeAll(async () => {
  database = await createDatabase();
  gate = await startGate(database.options);
  ledger = new Ledger({ ...database.options, port: gate.port });
});
beforeEach(() => empty(database));
afterEach(() => gate.open());
afterAll(async () => {
  await ledger.close();
  await gate.close();
  await database.drop();
});

test("a clean batch of ten is two statements: one claims, one records", async () => {
  const rows = await oweAndQueue(database, 10);
  const records = rows.map((row) => messageFor(row));
  expect(await countStatements(database, () => handOver(ledger, records))).toBe(2);
  expect(await countStates(database)).toEqual({ delivered: 10 });
  // A second one finds nothing to send, asks why, and has nothing to record.
  expect(await countStatements(database, () => handOver(ledger, records))).toBe(2);
});

test("a slow call holds back no neighbour's record; its own goes into a second one", async () => {
  const rows = await oweAndQueue(database, 5);
  const slow = rows[0]?.id ?? "";
  const answer = Promise.withResolvers<undefined>();
  const channel = scriptedChannel(({ notificationId }) =>
    notificationId === slow ? answer.promise : undefined,
  );
  const statements = countStatements(database, async () => {
    const delivery = handOver(
      ledger,
      rows.map((row) => messageFor(row)),
      { channel },
    );
    // The neighbours are recorded although the slow one does not answer at all.
    await until(() => expect(channel.calls).toHaveLength(5));
    await untilDelivered(rows.slice(1).map(({ id }) => id));
    answer.resolve(undefined);
    expect((await delivery).disposals).toEqual(Array(5).fill(acknowledged));
  });
  // The looks of this test are among what was counted.
  expect(await statements).toBe(3 + looks);
  expect(await readRow(database, slow)).toMatchObject({ state: "delivered" });
});
let looks = 0;
async function untilDelivered(ids: string[]) {
  looks = 0;
  await until(async () => {
    looks += 1;
    for (const row of await readRows(database, ids)) expect(row.state).toBe("delivered");
  });
}

test("a row whose outcome the ledger refuses holds back no neighbour's", async () => {
  const rows = await oweAndQueue(database, 3);
  const [poison] = rows;
  const { sql } = database;
  await sql`CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'poison'; END $$`;
  await sql.unsafe(
    `CREATE TRIGGER poison BEFORE UPDATE ON owed.notification FOR EACH ROW
       WHEN (NEW.state = 'delivered' AND NEW.id = '${poison?.id}') EXECUTE FUNCTION poison()`,
  );
  let left = 30;
  const { counts, disposals } = await handOver(
    ledger,
    rows.map((row) => messageFor(row)),
    {
      remaining: () => left,
      // What is left is enough for one more try of each alone.
      onError: () => {
        left = 1.4;
      },
    },
  );
  await sql`DROP FUNCTION poison CASCADE`;
  expect(counts).toEqual({ claimed: 3, accepted: 3, unrecorded: 1 });
  expect(disposals).toEqual([comesAgainIn(null), acknowledged, acknowledged]);
  expect(await countStates(database)).toEqual({ sending: 1, delivered: 2 });
});

describe("the database goes away during the sends", () => {
  test("the outcomes are held, and recorded when it is back; only then are the messages acknowledged", async () => {
    const rows = await oweAndQueue(database, 3);
    const dead = rows[2]?.id;
    const channel = scriptedChannel(({ notificationId }) => {
      gate.shut();
      return notificationId === dead ? refused : undefined;
    });
    let ended = false;
    const errors = vi.fn();
    const delivery = handOver(
      ledger,
      rows.map((row) => messageFor(row)),
      { channel, onError: errors },
    ).finally(() => {
      ended = true;
    });
    await until(() => expect(errors.mock.calls.length).toBeGreaterThanOrEqual(2));
    expect([await countStates(database), ended]).toEqual([{ sending: 3 }, false]);
    gate.open();
    expect((await delivery).disposals).toEqual([acknowledged, acknowledged, comesAgainIn(0)]);
    expect(await countStates(database)).toEqual({ delivered: 2, dead: 1 });
    expect(channel.calls).toHaveLength(3);
  });

  test("its sessions are ended by an administrator: nothing is lost", async () => {
    const rows = await oweAndQueue(database, 3);
    const channel = scriptedChannel(async () => {
      await database.sql`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = ${database.options.applicationName}`;
      return undefined;
    });
    const { disposals } = await handOver(
      ledger,
      rows.map((row) => messageFor(row)),
      { channel },
    );
    expect(disposals).toEqual(Array(3).fill(acknowledged));
    expect(await countStates(database)).toEqual({ delivered: 3 });
  });

  test("a row that somebody keeps locked is recorded when it is free", async () => {
    const row = await oweOneAndQueue(database);
    const impatient = new Ledger({ ...database.options, deadline: 1 });
    const errors = vi.fn();
    const free = Promise.withResolvers<void>();
    let lock: Promise<unknown> = Promise.resolve();
    const channel = scriptedChannel(async ({ notificationId }) => {
      const locked = Promise.withResolvers<void>();
      lock = database.sql.begin(async (transaction) => {
        await transaction`SELECT FROM owed.notification WHERE id = ${notificationId} FOR UPDATE`;
        locked.resolve();
        await free.promise;
      });
      await locked.promise;
      return undefined;
    });
    const delivery = handOver(impatient, [messageFor(row)], { channel, onError: errors });
    await until(() => expect(errors).toHaveBeenCalled());
    free.resolve();
    await lock;
    expect((await delivery).disposals).toEqual([acknowledged]);
    expect(await readRow(database, row.id)).toMatchObject({ state: "delivered" });
    await impatient.close();
  });

  test("not back before the deadline: not acknowledged, told by its id, and unknown after its lease", async () => {
    const row = await oweOneAndQueue(database);
    let left = 30;
    const channel = scriptedChannel(() => {
      gate.shut();
      left = 1;
      return undefined;
    });
    const { counts, disposals, onError } = await handOver(ledger, [messageFor(row)], {
      channel,
      remaining: () => left,
    });
    expect(disposals).toEqual([comesAgainIn(null)]);
    expect(counts).toEqual({ claimed: 1, accepted: 1, unrecorded: 1 });
    expect(onError).toHaveBeenLastCalledWith("an outcome was not recorded before the deadline", null, row.id);
    expect(await readRow(database, row.id)).toMatchObject({ state: "sending" });
    // The message comes again; nobody sends it a second time without waiting for evidence.
    await passTime(database.sql, durations.sendLease + 1);
    const again = await handOver(database.ledger, [messageFor(row)]);
    expect([again.channel.calls, again.disposals]).toEqual([[], [acknowledged]]);
    expect(await readRow(database, row.id)).toMatchObject({ state: "unknown" });
  });
});

test("the database away before the claim: nothing is sent, all come again after the queue's own time", async () => {
  // No sooner: the claim may have been written, and then the send lease must have passed.
  const rows = await oweAndQueue(database, 2);
  const records = rows.map((row) => messageFor(row));
  gate.shut();
  const { channel, disposals, onError } = await handOver(ledger, records);
  expect([channel.calls, disposals]).toEqual([[], [comesAgainIn(null), comesAgainIn(null)]]);
  expect(onError).toHaveBeenCalledOnce();
  gate.open();
  expect((await handOver(ledger, records)).disposals).toEqual([acknowledged, acknowledged]);
});
