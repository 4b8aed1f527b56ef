import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { holdRows, type Mode, moveHeld, setMode, setNewMerchants } from "../index.ts";
import { waitsForLock } from "../testing/race.ts";
import { rewriteRules } from "../testing/rows.ts";

let db: TestDatabase;
beforeAll(async () => {
  db = await createDatabase();
});
afterAll(() => db.drop());

type Sql = Pick<TestDatabase["sql"], "unsafe">;
const act = { actor: "ann", why: "W", unheardToo: false, dryRun: false };
const change = (merchant: string, mode: Mode) => setMode(db.ledger, merchant, mode, act);

/** A shipment of a merchant, with somebody who watches it. */
async function ship(merchant: string, mode: Mode = "owed"): Promise<string> {
  const id = `S-${randomUUID()}`;
  await db.sql`SELECT owed.register_shipment(${id}, ${merchant}, 'Shop', 'T')`;
  await db.sql`SELECT owed.subscribe(${id}, 'buyer-1', 'buyer', 'email', 'ann@example.com')`;
  await change(merchant, mode);
  return id;
}
const record = (sql: Sql, event: string, shipment: string) =>
  sql.unsafe("SELECT owed.record_event($1, $2, 'out_for_delivery', clock_timestamp())", [event, shipment]);
const claim = async (sql: Sql, merchant: string, event: string, channel = "email"): Promise<unknown> => {
  const [row] = await sql.unsafe("SELECT owed.old_claim($1, $2, 'buyer-1', $3, 'out_for_delivery') AS may", [
    merchant,
    event,
    channel,
  ]);
  return row?.may;
};
const rowOf = async (event: string) => {
  const [row] = await db.sql`
    SELECT n.id, n.state, n.mode FROM owed.notification n JOIN owed.event e ON e.key = n.event_key WHERE e.id = ${event}`;
  return row;
};

test.each<Mode>(["owed", "old"])(
  "a cutover waits for an event under way, in mode %s as well",
  async (was) => {
    const merchant = `waits-${was}`;
    const becomes = was === "owed" ? "old" : "owed";
    const shipment = await ship(merchant, was);
    const changed = await db.sql.begin(async (platform) => {
      await record(platform, `E-${merchant}`, shipment);
      const changing = change(merchant, becomes);
      await waitsForLock(db.sql);
      return { changing };
    });
    expect(await changed.changing).toMatchObject({ was, done: true, waitsFor: null });
    if (becomes === "old")
      expect(await holdRows(db.ledger, { merchant, mode: "old", after: "", most: 9 })).toMatchObject({
        rows: [{ did: "moved" }],
      });
    expect(await rowOf(`E-${merchant}`)).toMatchObject({ mode: "old" });
    expect(await claim(db.sql, merchant, `E-${merchant}`)).toBe(true);
  },
);

test("a transaction with one snapshot, from before the cutover, records nothing in the mode of before", async () => {
  const shipment = await ship("snapshot", "old");
  const work = db.sql.begin("ISOLATION LEVEL REPEATABLE READ", async (platform) => {
    await platform`SELECT 1 FROM owed.merchant`;
    await change("snapshot", "owed");
    await record(platform, "E-snapshot", shipment);
  });
  await expect(work).rejects.toMatchObject({ code: "40001" });
});

test("an event beside a registration that changes nothing waits for nothing, and does not deadlock", async () => {
  const [one, two] = [await ship("beside", "old"), await ship("beside", "old")];
  await db.sql.begin(async (a) => {
    await record(a, "E-one", one);
    await a`SELECT owed.register_shipment(${`${one}-new`}, 'beside', 'Shop', 'T')`;
    await db.sql.begin(async (b) => {
      await record(b, "E-two", two);
      await b`SELECT owed.register_shipment(${`${two}-new`}, 'beside', 'Shop', 'T')`;
    });
  });
  await db.sql`SELECT owed.register_shipment(${one}, 'beside', 'New name', 'T-2')`;
  expect(
    await db.sql`
    SELECT m.name, sh.tracking_number FROM owed.shipment sh JOIN owed.merchant m ON m.id = sh.merchant_id WHERE sh.id = ${one}`,
  ).toMatchObject([{ name: "New name", tracking_number: "T-2" }]);
});

test("of two claims around the event's commit one is allowed", async () => {
  const shipment = await ship("around", "old");
  const { first, second } = await db.sql.begin(async (a) => {
    const first = await claim(a, "around", "E-around");
    await record(db.sql, "E-around", shipment);
    const second = claim(db.sql, "around", "E-around");
    await waitsForLock(db.sql);
    return { first, second };
  });
  expect([first, await second]).toEqual([true, false]);
});

test("a claim for an unknown channel is refused with the field", async () => {
  await expect(claim(db.sql, "around", "E-x", "pigeon")).rejects.toMatchObject({
    code: "OW003",
    column_name: "channel",
  });
});

test("a claim before its event, and silence: offered again once the claim has ended, and not before", async () => {
  const shipment = await ship("silence", "old");
  expect(await claim(db.sql, "silence", "E-silence")).toBe(true);
  await record(db.sql, "E-silence", shipment);
  const offered = () => db.sql`SELECT event_id FROM owed.old_due() WHERE event_id = 'E-silence'`;
  expect(await offered()).toHaveLength(0);
  await db.sql`UPDATE owed.old_send SET claimed_at = claimed_at - owed.old_claim_ends() WHERE event_id = 'E-silence'`;
  expect(await offered()).toHaveLength(1);
  expect(await claim(db.sql, "silence", "E-silence")).toBe(true);
});

test("old_due looks at the oldest hundred for each one asked for, beside those that a column says are untrue", async () => {
  const offered = async () => (await db.sql`SELECT event_id FROM owed.old_due(1)`).map((row) => row.event_id);
  for (const [name, events] of [
    ["many", 100],
    ["more", 2],
    ["few", 1],
  ] as const) {
    const shipment = await ship(name, "shadow");
    await db.sql`SELECT owed.record_event(${`${name}-`} || n, ${shipment}, 'out_for_delivery', now() - interval '2 h' + n * interval '1 s')
      FROM generate_series(1, ${events}::int) AS n`;
    await db.sql`UPDATE owed.notification SET due_at = due_at - interval '1 h' FROM owed.event e
      WHERE e.key = event_key AND e.shipment_id = ${shipment}`;
  }
  // Ninety-nine before it are superseded; it is found all the same.
  expect(await offered()).toEqual(["many-100"]);
  await claim(db.sql, "many", "many-100");
  await claim(db.sql, "more", "more-2");
  expect(await offered()).toEqual([]);
  await db.sql`UPDATE owed.notification SET shadow_moot = 'superseded' FROM owed.event e WHERE e.key = event_key AND e.id = 'many-1'`;
  expect(await offered()).toEqual(["few-1"]);
});

test("a shipment with held rows stays its merchant's until the cutover", async () => {
  const shipment = await ship("first", "shadow");
  await ship("second");
  await record(db.sql, "E-first", shipment);
  const again = () => db.sql`SELECT owed.register_shipment(${shipment}, 'second', 'Shop', 'T')`;
  await expect(again()).rejects.toMatchObject({ code: "OW003", column_name: "merchant_id" });
  await change("first", "owed");
  await moveHeld(db.ledger, {
    ...act,
    merchant: "first",
    mode: "owed",
    since: new Date().toISOString(),
    past: "send",
    after: "",
    most: 9,
  });
  await again();
  expect(await rowOf("E-first")).toMatchObject({ state: "pending", mode: null });
});

test("new merchants do not begin with Owed while the old sender tells of one that the ledger does not know", async () => {
  const all = (mode: Mode, more = {}) => setNewMerchants(db.ledger, mode, { ...act, ...more });
  await all("old");
  const { toOwed, may } = await db.sql.begin(async (old) => {
    const may = await claim(old, "unknown", "E-unknown");
    const toOwed = all("owed");
    await waitsForLock(db.sql);
    return { toOwed, may };
  });
  expect(may).toBe(true);
  expect(await toOwed).toEqual({
    was: "old",
    unheard: 1,
    events: ["E-unknown"],
    waitsFor: null,
    done: false,
  });
  expect(await all("owed", { unheardToo: true, dryRun: true })).toMatchObject({ done: true });
  await record(db.sql, "E-unknown", await ship("unknown", "old"));
  expect(await all("owed")).toMatchObject({ was: "old", done: true });
});

test("a shipment that changes hands beside a late event waits, and then stays: the old sender holds the event's row", async () => {
  await rewriteRules(db, "newest_replaces = false, only_while_current = false");
  const shipment = await ship("beside", "old");
  await record(db.sql, "E-beside", shipment);
  await change("beside", "owed");
  await moveHeld(db.ledger, {
    ...{ ...act, merchant: "beside", mode: "owed", since: new Date().toISOString() },
    ...{ past: "send", after: "", most: 9 },
  });
  await change("beside", "old");
  const { answer } = await db.sql.begin(async (platform) => {
    // One that changes nothing of the shipment itself: it only keeps it locked.
    await platform`SELECT owed.record_event('E-late', ${shipment}, 'out_for_delivery', clock_timestamp() - interval '1 hour')`;
    const moving = db.sql`SELECT owed.register_shipment(${shipment}, 'beside-other', 'Shop', 'T')`.then(
      () => "moved",
      (error: Error) => error.message,
    );
    await waitsForLock(db.sql);
    return { answer: moving };
  });
  expect(await answer).toContain("merchant_id is not the shipment's");
  const [row] = await db.sql`SELECT merchant_id FROM owed.shipment WHERE id = ${shipment}`;
  expect(row).toEqual({ merchant_id: "beside" });
});
