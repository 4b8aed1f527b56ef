import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { happen, registerShipment } from "../../../../tests/support/shipment.ts";
import { look, nothing, take } from "../testing/act.ts";
import { shut } from "../testing/channel.ts";
import { empty, newRow, readRow, readRows, reshape, revive, rewriteRules } from "../testing/rows.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const ago = (seconds: number) => ({ owed_at: `now() - interval '${seconds} s'` });
const sms = { channel: "'sms'" };
const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);
const both = (email: number, sms: number) => ({
  shares: [
    { channel: "email", most: email },
    { channel: "sms", most: sms },
  ],
});

describe("the channels' shares", () => {
  test("are each for itself: the oldest of one are not in the way of another", async () => {
    const [first, second] = [
      await newRow(database, "pending", ago(90)),
      await newRow(database, "pending", ago(80)),
    ];
    const late = await newRow(database, "pending", { ...ago(1), ...sms });
    expect(await take(database, both(1, 1))).toMatchObject({
      leased: [{ id: first }, { id: late }],
      taken: new Map([
        ["email", { rows: 1, leased: 1 }],
        ["sms", { rows: 1, leased: 1 }],
      ]),
    });
    expect(ids((await take(database, both(5, 0))).leased)).toEqual([second]);
  });

  test("say what was taken, cancelled rows as well; the watermark is the lowest of all", async () => {
    await newRow(database, "pending", { owed_at: "'2026-01-01 00:00:02Z'" });
    await newRow(database, "pending", { owed_at: "'2026-01-01 00:00:01Z'", send_by: "now()", ...sms });
    await newRow(database, "pending", { owed_at: "'2026-01-01 00:00:03Z'", ...sms });
    expect(await take(database, both(5, 5))).toMatchObject({
      taken: new Map([
        ["sms", { rows: 2, leased: 1 }],
        ["email", { rows: 1, leased: 1 }],
      ]),
      cancelled: 1,
      watermark: "2026-01-01 00:00:01+00",
    });
  });

  test("of nothing, of nought, or of a channel that is not there: nothing", async () => {
    await newRow(database, "pending", ago(1));
    for (const shares of [[], [{ channel: "email", most: 0 }], [{ channel: "pigeon", most: 9 }]])
      expect(await take(database, { shares })).toEqual(nothing);
  });

  test("of what waits for a look there is none", async () => {
    for (const shape of ["queued", "sending", "unknown"] as const) await newRow(database, shape, ago(9));
    expect(await take(database)).toEqual(nothing);
  });
});

describe("a closed channel", () => {
  test.each([300, null])("is left alone, and the others are not (for %s s)", async (seconds) => {
    const id = await newRow(database, "pending", ago(60));
    const untrue = await newRow(database, "pending", { ...ago(60), send_by: "now()" });
    const before = [await readRow(database, id), await readRow(database, untrue)];
    const other = await newRow(database, "pending", { ...ago(1), ...sms });
    await shut(database, seconds);
    expect(ids((await take(database, both(9, 9))).leased)).toEqual([other]);
    expect([await readRow(database, id), await readRow(database, untrue)]).toEqual(before);
  });

  test("is open from the moment on that it was closed until", async () => {
    const id = await newRow(database, "pending", ago(60));
    await shut(database, 0);
    expect(ids((await take(database)).leased)).toEqual([id]);
  });

  test("stops no look: what waits for one is moved on", async () => {
    await shut(database, null);
    await newRow(database, "sending", ago(1));
    await newRow(database, "unknown", ago(1));
    await newRow(database, "queued", ago(1));
    expect(await look(database, { queued: "lost" })).toMatchObject({
      taken: 3,
      unknown: 1,
      resent: 1,
      rescued: 1,
    });
    expect(await take(database)).toEqual(nothing);
  });
});

describe("the share of fresh rows", () => {
  afterEach(() => rewriteRules(database, "newest_replaces = true"));

  test("takes only what became owed lately, the oldest of it first", async () => {
    const [old, newest, newer] = [
      await newRow(database, "pending", ago(61)),
      await newRow(database, "pending", ago(5)),
      await newRow(database, "pending", ago(50)),
    ];
    expect(ids((await take(database, { fresh: 60 })).leased)).toEqual([newer, newest]);
    expect(ids((await take(database)).leased)).toEqual([old]);
  });

  /** An older and a newer status for one recipient, owed so many seconds ago. */
  async function two(older: number, newer: number): Promise<[string, string]> {
    const shipment = await registerShipment(database);
    await happen(database, shipment, "picked_up", 7200);
    await happen(database, shipment, "out_for_delivery", 60);
    const [first, second] = ids(await readRows(database, shipment));
    if (!first || !second) throw new Error("there are no two rows");
    await revive(database, first);
    await reshape(database, first, "pending", ago(older));
    await reshape(database, second, "pending", ago(newer));
    return [first, second];
  }
  const keepsAll = (id: string) =>
    rewriteRules(
      database,
      "newest_replaces = false",
      `id = (SELECT rule_id FROM owed.notification WHERE id = '${id}')`,
    );

  test("overtakes an older row of its own group that it replaces", async () => {
    const [, newer] = await two(3600, 10);
    expect(ids((await take(database, { fresh: 60 })).leased)).toEqual([newer]);
  });

  test("does not overtake one that it does not replace, until that is on its way", async () => {
    const [older, newer] = await two(3600, 10);
    await keepsAll(older);
    const free = await newRow(database, "pending", ago(5));
    expect(ids((await take(database, { fresh: 60 })).leased)).toEqual([free]);
    const first = await take(database, { most: 1 });
    expect(ids(first.leased)).toEqual([older]);
    const own = first.until ? [first.until] : [];
    expect(ids((await take(database, { fresh: 60, own })).leased)).toEqual([newer]);
  });

  test.each(["pending", "leased"] as const)(
    "whether the older one is pending, or its lease has run out: %s",
    async (shape) => {
      const [older] = await two(3600, 10);
      await reshape(database, older, shape, ago(3600));
      await keepsAll(older);
      expect(await take(database, { fresh: 60 })).toEqual(nothing);
    },
  );

  test.each([
    ["an older one that is not owed yet", "pending", { owed_at: "now() + interval '1 day'" }],
    ["one that is on its way", "queued", {}],
    ["one that is delivered", "delivered", {}],
    ["one that waits for a person", "dead", {}],
  ] as const)("is not held up by %s", async (_, shape, columns) => {
    const [older, newer] = await two(3600, 10);
    await keepsAll(older);
    await reshape(database, older, shape, columns);
    expect(ids((await take(database, { fresh: 60 })).leased)).toEqual([newer]);
  });

  test("is not held up by the older rows of somebody else", async () => {
    const shipment = await registerShipment(database, ["buyer", "merchant"]);
    await rewriteRules(database, "newest_replaces = false");
    await happen(database, shipment, "customs_hold", 60);
    await happen(database, shipment, "delivered", 10);
    const rows = await database.sql<{ id: string; status: string; role: string }[]>`
      SELECT n.id, e.status, s.role FROM owed.notification n JOIN owed.event e ON e.key = n.event_key
        JOIN owed.subscriber s ON s.id = n.subscriber_id WHERE n.due_at <= now()`;
    const find = (status: string, role: string) =>
      rows.find((row) => row.status === status && row.role === role)?.id ?? "";
    const waits = { [find("customs_hold", "buyer")]: 3600, [find("delivered", "merchant")]: 10 };
    for (const { id } of rows)
      if (waits[id]) await reshape(database, id, "pending", ago(waits[id]));
      else await reshape(database, id, "delivered");
    expect(ids((await take(database, { fresh: 60 })).leased)).toEqual([find("delivered", "merchant")]);
  });
});
