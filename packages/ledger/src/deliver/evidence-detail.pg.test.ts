import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { proofOf } from "../testing/act.ts";
import { readChannel } from "../testing/channel.ts";
import { empty, newRow, readRow, type Shape } from "../testing/rows.ts";
import { type Proof, recordEvidence } from "./record-evidence.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const weigh = (id: string, more: Partial<Proof>) => recordEvidence(database.ledger, [proofOf(id, more)]);
/** Changes with every write to the row. */
const version = async (id: string) =>
  (await database.sql`SELECT xmin::text, ctid::text FROM owed.notification WHERE id = ${id}`)[0];

describe("what the provider says besides", () => {
  test.each<Shape>(["sending", "unknown", "held", "dead"])(
    "is the reason of a row that it proves delivered, in place of why it was %s",
    async (shape) => {
      const [told, silent] = [await newRow(database, shape), await newRow(database, shape)];
      await weigh(told, { outcome: "bounced", detail: "bounced: MailboxFull" });
      await weigh(silent, { outcome: "arrived" });
      expect(await readRow(database, told)).toMatchObject({
        outcome: "bounced",
        reason: "bounced: MailboxFull",
      });
      expect(await readRow(database, silent)).toMatchObject({ outcome: "arrived", reason: null });
    },
  );

  test("of a higher outcome stands in place of what was said of a lower one, and never the other way round", async () => {
    const id = await newRow(database, "delivered");
    await weigh(id, { outcome: "arrived", detail: "arrived: after a delay" });
    expect(await readRow(database, id)).toMatchObject({
      outcome: "arrived",
      reason: "arrived: after a delay",
    });
    await weigh(id, { outcome: "bounced", detail: "bounced: NoEmail" });
    await weigh(id, { outcome: "arrived", detail: "arrived: after a delay" });
    await weigh(id, { outcome: "accepted", detail: "accepted: late" });
    expect(await readRow(database, id)).toMatchObject({ outcome: "bounced", reason: "bounced: NoEmail" });
    await weigh(id, { outcome: "complained" });
    expect(await readRow(database, id)).toMatchObject({ outcome: "complained", reason: null });
  });

  test("of the same outcome is taken when it says more, and silence says nothing", async () => {
    const id = await newRow(database, "delivered");
    for (const [detail, reason] of [
      ["delayed: MailboxFull", "delayed: MailboxFull"],
      [null, "delayed: MailboxFull"],
      ["delayed: TransientFailure", "delayed: TransientFailure"],
    ]) {
      await weigh(id, { detail: detail ?? null });
      expect(await readRow(database, id)).toMatchObject({ outcome: "accepted", reason });
    }
  });

  test("leaves a cancelled row's reason alone: why it was not wanted", async () => {
    const id = await newRow(database, "cancelled");
    for (const outcome of ["accepted", "bounced"] as const)
      await weigh(id, { outcome, detail: `${outcome}: x` });
    expect(await readRow(database, id)).toMatchObject({ outcome: "bounced", reason: "opted_out" });
  });

  test("said once more is not written once more", async () => {
    const [bounced, cancelled] = [await newRow(database, "delivered"), await newRow(database, "cancelled")];
    for (const id of [bounced, cancelled]) {
      const proof = { outcome: "bounced", detail: "bounced: NoEmail" } as const;
      await weigh(id, proof);
      const before = await version(id);
      await weigh(id, proof);
      await weigh(id, { outcome: "arrived", detail: "arrived: after a delay" });
      expect(await version(id)).toEqual(before);
    }
  });
});

describe("evidence that waited in its queue", () => {
  const lateAt = async (name = "email") => (await readChannel(database, name)).evidence_late_at;
  const waited = async (seconds: number | null, channel = "email") =>
    weigh(await newRow(database, "delivered", { channel: `'${channel}'` }), {
      queuedAt: seconds === null ? null : Date.now() - seconds * 1000,
    });

  test("for a minute is late, and its channel's row says when that was seen", async () => {
    await waited(70);
    expect(await lateAt()).toEqual(expect.any(Date));
    expect(await lateAt("sms")).toBeNull();
  });

  test.each([null, 0, 50])("for %s s is not", async (seconds) => {
    await waited(seconds);
    expect(await lateAt()).toBeNull();
  });

  test("is late whatever it says, of a row that is there", async () => {
    await recordEvidence(database.ledger, [
      proofOf("00000000-0000-7000-8000-000000000001", { queuedAt: Date.now() - 70_000 }),
    ]);
    expect(await lateAt()).toBeNull();
    await weigh(await newRow(database, "cancelled"), { queuedAt: Date.now() - 70_000 });
    expect(await lateAt()).not.toBeNull();
  });

  test("is noted once in ten seconds: the row is not what the consumers wait for", async () => {
    await waited(70);
    const first = await lateAt();
    await waited(70);
    expect(await lateAt()).toEqual(first);
    await passTime(database.sql, 11);
    await waited(70);
    expect((await lateAt())?.getTime()).toBeGreaterThan(first?.getTime() ?? 0);
  });
});
