import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { Ledger } from "../connect/ledger.ts";
import { defaultDurations as durations } from "../durations.ts";
import { claimAll, message } from "../testing/act.ts";
import { empty, newRow, readRow, readTries } from "../testing/rows.ts";
import { claim } from "./claim.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

describe("a batch", () => {
  test("is answered in the order given, each message for itself", async () => {
    const [queued, delivered, pending] = [
      await newRow(database, "queued"),
      await newRow(database, "delivered"),
      await newRow(database),
    ];
    expect(
      await claimAll(
        database,
        message(delivered),
        message(queued),
        message(randomUUID()),
        message(pending, { generation: 3 }),
        message(pending),
      ),
    ).toEqual(["done", "claimed", "gone", "stale", "claimed"]);
  });

  test("claims a row once, for the first of its messages that may", async () => {
    const id = await newRow(database, "queued");
    expect(
      await claimAll(database, message(id, { generation: 9 }), message(id), message(id), message(id)),
    ).toEqual(["stale", "claimed", "held", "held"]);
    expect(await readRow(database, id)).toMatchObject({ attempts: 1, lease_token: 2 });
  });

  test("leaves out a row that somebody keeps locked, and claims the others", async () => {
    const [locked, free] = [await newRow(database, "queued"), await newRow(database, "queued")];
    const before = await readRow(database, locked);
    const ledger = new Ledger({ ...database.options, connections: 1, deadline: 1 });
    await database.sql.begin(async (other) => {
      await other`SELECT FROM owed.notification WHERE id = ${locked} FOR UPDATE`;
      const verdicts = await claim(ledger, durations, [
        message(locked),
        message(free),
        message(randomUUID()),
      ]);
      expect(verdicts.map(({ verdict }) => verdict)).toEqual(["busy", "claimed", "gone"]);
    });
    await ledger.close();
    expect(await readRow(database, locked)).toEqual(before);
    expect(await claimAll(database, message(locked))).toEqual(["claimed"]);
  });

  test("makes a vanished worker's row unknown once", async () => {
    const id = await newRow(database, "sending");
    await passTime(database.sql, durations.sendLease);
    expect(await claimAll(database, message(id), message(id))).toEqual(["unknown", "held"]);
    expect(await readTries(database, id)).toEqual(["unknown"]);
  });

  test("of nothing is answered with nothing", async () => {
    expect(await claimAll(database)).toEqual([]);
  });

  test("ten workers with the same ten messages, in any order: each row is claimed once", async () => {
    const rows = await Promise.all(Array.from({ length: 10 }, () => newRow(database, "queued")));
    const verdicts = await Promise.all(
      Array.from({ length: 10 }, (_, turn) =>
        claimAll(database, ...[...rows.slice(turn), ...rows.slice(0, turn)].map((id) => message(id))),
      ),
    );
    expect(verdicts.flat().filter((verdict) => verdict === "claimed")).toHaveLength(10);
    expect(verdicts.flat().filter((verdict) => verdict === "held")).toHaveLength(90);
    expect(await database.sql`SELECT DISTINCT attempts, lease_token FROM owed.notification`).toEqual([
      { attempts: 1, lease_token: 2 },
    ]);
  });
});
