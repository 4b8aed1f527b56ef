import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { passTime } from "../../../../tests/support/time.ts";
import { waitsForLock } from "../../../ledger/src/testing/race.ts";
import { createWorld, type World } from "../testing.ts";

let world: World;
let folder: string;
beforeAll(async () => {
  world = await createWorld();
  folder = await mkdtemp(join(tmpdir(), "owed-rollout-"));
});
afterAll(async () => {
  await world.end();
  await rm(folder, { recursive: true });
});

/** From one moment: the same timer twice is the same to the millisecond. */
const start = Date.now();
const inHours = (hours: number) => new Date(start + hours * 3_600_000).toISOString();

/** A timer of the old sender: of a shipment that is held by customs, about to be told that it still is. */
const timer = (shipment: string, changes: Record<string, unknown> = {}) => ({
  timer_id: `t-${shipment}`,
  merchant_id: `shop-of-${shipment.slice(0, 1)}`,
  merchant_name: "Shop",
  shipment_id: shipment,
  tracking_number: `T-${shipment}`,
  status: "customs_hold",
  occurred_at: inHours(-2),
  recipient_id: "buyer-1",
  role: "buyer",
  channel: "email",
  address: "ann@example.com",
  template: "customs_hold.still",
  due_at: inHours(22),
  ...changes,
});

async function fileOf(name: string, timers: readonly object[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, timers.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return path;
}

const rowsOf = (merchant: string) => world.db.sql<
  { id: string; event: string; state: string; mode: string | null; owed: boolean }[]
>`
  SELECT n.id, e.id AS event, n.state, n.mode, n.owed_at = n.due_at AS owed FROM owed.notification n JOIN owed.event e ON e.key = n.event_key
  JOIN owed.shipment sh ON sh.id = e.shipment_id WHERE sh.merchant_id = ${merchant} ORDER BY e.id, n.id`;

const asOldSender = (
  name: "old_claim" | "old_sent" | "old_gave_up",
  merchant: string,
  event: string,
  ...more: unknown[]
) =>
  world.db.sql.unsafe(
    `SELECT owed.${name}($1, $2, 'buyer-1', 'email', 'customs_hold.still'${more.map((_, at) => `, $${at + 3}`).join("")}) AS may`,
    [merchant, event, ...(more as string[])],
  );

test("backfill: each line is added, known already, or left out with its number, field and reason", async () => {
  const path = await fileOf("a.jsonl", [
    timer("A-1"),
    timer("A-2", { event_id: "E-A-2" }),
    timer("A-1"),
    timer("A-3", { address: "private@example.com\u0000" }),
    timer("A-4", { template: "customs_hold.never" }),
    timer("A-5", { send_by: inHours(1) }),
    timer("A-6", { status: "delivered", template: "delivered", occurred_at: inHours(1) }),
    timer("A-1", { merchant_id: "another" }),
    timer("A-7", { event_id: "E-A-2" }),
    timer("A-8", { status: "lost_in_space" }),
    timer("A-9", { due_at: inHours(24 * 365) }),
    timer("A-10", { name: "Ann \ud83d" }),
  ]);
  const tried = await world.json("backfill", path, "--dry-run");
  expect(tried).toMatchObject({ code: 3, value: { records: 12, refused: 9 } });
  expect(await rowsOf("shop-of-A")).toEqual([]);

  const { code, value } = await world.json("backfill", path, "--batch", "2");
  expect(code).toBe(3);
  expect(value).toMatchObject({ records: 12, added: 2, repeated: 1, refused: 9 });
  expect(value.refusals).toMatchObject([
    { line: 4, timer_id: "t-A-3", field: "address" },
    { line: 5, field: "template", reason: expect.stringContaining("rules list") },
    { line: 6, field: "send_by", reason: "must be after due_at" },
    { line: 7, field: "occurred_at" },
    { line: 8, field: "merchant_id", reason: "is not the shipment's" },
    { line: 9, field: "event_id" },
    { line: 10, field: "status", reason: expect.stringContaining("customs_hold, customs_released") },
    { line: 11, field: "send_by", reason: expect.stringContaining("never be sent") },
    { line: 12, field: "name", reason: expect.stringContaining("surrogate") },
  ]);
  const kept = await readFile(`${path}.refused.jsonl`, "utf8");
  expect(kept.trim().split("\n")).toHaveLength(9);
  expect(kept).not.toContain("private");
  const rows = await rowsOf("shop-of-A");
  expect(rows).toMatchObject([
    { event: "E-A-2" },
    { event: expect.stringMatching(/^timer\.A-1\.customs_hold\.\d{16}$/) },
  ]);
  expect(rows).toMatchObject(Array(2).fill({ state: "pending", mode: "old", owed: false }));

  // The same file again is known as a whole; the same timers in another file one by one.
  expect(await world.json("backfill", path)).toMatchObject({ value: { before: 12, added: 2 } });
  const other = await fileOf("b.jsonl", [
    timer("A-2", { event_id: "E-A-2", occurred_at: undefined }),
    timer("A-9"),
  ]);
  expect(await world.json("backfill", other)).toMatchObject({ value: { records: 2, added: 1, refused: 1 } });
  expect(await world.json("backfill", other, "--mode", "shadow")).toMatchObject({ code: 3 });
  expect(await rowsOf("shop-of-A")).toHaveLength(3);
});

test("backfill: a run that broke off goes on after the last batch", async () => {
  const timers = Array.from({ length: 7 }, (_, number) => timer(`B-${number}`));
  const path = await fileOf("resumed.jsonl", timers);
  await world.db
    .sql`CREATE FUNCTION owed.break_off() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'broken off'; END $$`;
  await world.db
    .sql`CREATE TRIGGER break_off BEFORE INSERT ON owed.shipment FOR EACH ROW WHEN (NEW.id = 'B-5') EXECUTE FUNCTION owed.break_off()`;
  expect(await world.json("backfill", path, "--batch", "2")).toMatchObject({ code: 1 });
  expect(await rowsOf("shop-of-B")).toHaveLength(4);
  await world.db.sql`DROP TRIGGER break_off ON owed.shipment`;
  await world.db.sql`DROP FUNCTION owed.break_off`;
  expect(await world.json("backfill", path, "--batch", "2")).toMatchObject({
    code: 0,
    value: { before: 4, added: 7, records: 7 },
  });
  expect(await rowsOf("shop-of-B")).toHaveLength(7);
});

test("cutover: what the old sender is at work on stays with it; what is past needs a word; and back", async () => {
  const merchant = "shop-of-C";
  await world.json(
    "backfill",
    await fileOf(
      "c.jsonl",
      ["C-1", "C-2", "C-3", "C-4"].map((id) =>
        timer(id, { event_id: `E-${id}`, due_at: inHours(id === "C-4" ? 22 : 0) }),
      ),
    ),
  );
  expect(await asOldSender("old_claim", merchant, "E-C-1")).toMatchObject([{ may: true }]);
  expect(await asOldSender("old_claim", merchant, "E-C-1")).toMatchObject([{ may: false }]);
  await asOldSender("old_sent", merchant, "E-C-2", "smtp", "m-1", inHours(0));
  const to = (mode: string, ...more: string[]) =>
    world.json("cutover", "--merchant", merchant, "--to", mode, "--why", "W", ...more);

  expect(await world.json("cutover")).toMatchObject({ value: { newMerchants: "owed" } });
  expect(await to("owed")).toMatchObject({
    code: 3,
    value: {
      error: { kind: "not_allowed", message: expect.stringMatching(/1 notification of shop-of-C was due/) },
    },
  });
  expect(await to("owed", "--past", "cancel", "--dry-run")).toMatchObject({
    value: { held: 3, due: 2, claimed: 1 },
  });
  expect(await to("owed", "--past", "cancel")).toMatchObject({
    code: 3,
    value: {
      was: "old",
      rows: { moved: 1, cancelled: 1, claimed: 1 },
      againFrom: expect.stringMatching(/Z$/),
    },
  });
  expect(await asOldSender("old_claim", merchant, "E-C-4")).toMatchObject([{ may: false }]);
  expect(await rowsOf(merchant)).toMatchObject([
    { event: "E-C-1", state: "pending", mode: "old" },
    { event: "E-C-2", state: "delivered" },
    { event: "E-C-3", state: "cancelled" },
    { event: "E-C-4", state: "pending", mode: null, owed: true },
  ]);

  // Claimed, and no word since: taken up, and counted.
  await passTime(world.db.sql, 16 * 60);
  expect(await to("owed", "--past", "send")).toMatchObject({
    code: 0,
    value: { was: "owed", rows: { moved: 1 } },
  });
  expect(await world.db.sql`SELECT kind FROM owed.attempt WHERE kind = 'resent'`).toHaveLength(1);

  expect(await to("shadow")).toMatchObject({ code: 0, value: { was: "owed", rows: { moved: 2 } } });
  expect(await asOldSender("old_claim", merchant, "E-C-4")).toMatchObject([{ may: true }]);
  await asOldSender("old_gave_up", merchant, "E-C-4");
  expect(await asOldSender("old_claim", merchant, "E-C-4")).toMatchObject([{ may: true }]);
  expect(
    (
      await world.db
        .sql`SELECT was, became, actor IS NOT NULL AS by FROM owed.cutover WHERE merchant_id = ${merchant} ORDER BY id`
    ).map((row) => ({ ...row })),
  ).toEqual([
    { was: "old", became: "owed", by: true },
    { was: "owed", became: "shadow", by: true },
  ]);
});

test("cutover: not while the old sender has told of an event that the ledger has not heard of", async () => {
  const merchant = "shop-of-D";
  await world.json("backfill", await fileOf("d.jsonl", [timer("D-1")]));
  expect(await asOldSender("old_claim", merchant, "E-D-2")).toMatchObject([{ may: true }]);
  expect(await asOldSender("old_claim", merchant, "E-D-2")).toMatchObject([{ may: false }]);
  const cutover = (...more: string[]) =>
    world.json("cutover", "--merchant", merchant, "--to", "owed", "--why", "W", ...more);
  for (const dryRun of [["--dry-run"], []])
    expect(await cutover(...dryRun)).toMatchObject({
      code: 3,
      value: { error: { message: expect.stringContaining("has not heard of E-D-2:") } },
    });
  await asOldSender("old_sent", merchant, "E-D-2", "smtp", "m-2", inHours(0));
  await world.db.sql`SELECT owed.record_event('E-D-2', 'D-1', 'customs_hold', ${inHours(-1)})`;
  const { value } = await cutover("--past", "send");
  expect(value).toMatchObject({ merchant });
  expect(
    await world.db.sql`
      SELECT n.state, n.evidence, n.provider_message_id FROM owed.notification n JOIN owed.event e ON e.key = n.event_key
      WHERE e.id = 'E-D-2' AND n.provider IS NOT NULL`,
  ).toMatchObject([{ state: "delivered", evidence: "old_sender", provider_message_id: "m-2" }]);
  expect(await asOldSender("old_claim", merchant, "E-D-3")).toMatchObject([{ may: false }]);
});

test("cutover: waits in vain for an open transaction, changes nothing, and says whose it is; what comes meanwhile goes on", async () => {
  const register = (shipment: string) =>
    world.db.sql`SELECT owed.register_shipment(${shipment}, 'shop-of-H', 'Shop', 'T')`;
  await register("H-1");
  await register("H-2");
  const record = (sql: Pick<typeof world.db.sql, "unsafe">, shipment: string) =>
    sql.unsafe("SELECT owed.record_event($1, $2, 'customs_hold', now())", [`E-${shipment}`, shipment]);
  await world.db.sql.begin(async (platform) => {
    await record(platform, "H-1");
    const cutover = world.json("cutover", "--merchant", "shop-of-H", "--to", "old", "--why", "W");
    await waitsForLock(world.db.sql);
    const next = record(world.db.sql, "H-2").then((rows) => rows.length);
    await waitsForLock(world.db.sql, 2);
    const message = expect.stringMatching(
      /open transaction about shop-of-H .* process \d+\); nothing was changed/,
    );
    expect(await cutover).toMatchObject({ code: 3, value: { error: { kind: "not_allowed", message } } });
    expect(await next).toBe(1);
  });
  expect(await world.db.sql`SELECT mode FROM owed.merchant WHERE id = 'shop-of-H'`).toMatchObject([
    { mode: "owed" },
  ]);
});

test("compare: hour by hour, and each difference with its reason", async () => {
  const merchant = "shop-of-F";
  const ids = ["F-1", "F-2", "F-3", "F-4"];
  await world.json(
    "backfill",
    await fileOf(
      "f.jsonl",
      ids.map((id) => timer(id, { event_id: `E-${id}`, due_at: inHours(0) })),
    ),
    "--mode",
    "shadow",
  );
  await world.db.sql`UPDATE owed.notification SET shadow_published_at = now() FROM owed.event e
    WHERE e.key = event_key AND e.id IN ('E-F-1', 'E-F-2')`;
  await world.db.sql`UPDATE owed.notification SET shadow_moot = 'superseded' FROM owed.event e
    WHERE e.key = event_key AND e.id IN ('E-F-3', 'E-F-4')`;
  for (const event of ["E-F-1", "E-F-3", "E-unheard"])
    await asOldSender("old_sent", merchant, event, "smtp", `m-${event}`, inHours(0));
  await passTime(world.db.sql, 60);
  const { value } = await world.json("compare", "--merchant", merchant);
  expect(value).toMatchObject({
    total: { both: 1, onlyNew: 1, onlyOld: 2, neither: 1, waiting: 0, twice: 0 },
  });
  expect(value.differences).toMatchObject(
    expect.arrayContaining([
      expect.objectContaining({
        event: "E-F-2",
        verdict: "only_new",
        why: "the old sender has not claimed it",
      }),
      expect.objectContaining({
        event: "E-F-3",
        verdict: "only_old",
        why: "Owed would not: a newer status has made it untrue",
      }),
      expect.objectContaining({
        event: "E-unheard",
        verdict: "only_old",
        why: "the ledger has not heard of the event",
      }),
    ]),
  );
  expect(await world.json("compare", "--merchant", "nobody")).toMatchObject({
    code: 3,
    value: { error: { kind: "not_found" } },
  });
  const { out } = await world.owed("compare", "--merchant", merchant);
  expect(out).toMatch(/in all .* 1 +1 +2 +1 +0 +0 +0/);
  const [row] = await rowsOf(merchant);
  expect((await world.owed("audit", "--shipment", "F-1")).out).toContain("was sent by the old sender at");
  expect((await world.owed("show", row?.id ?? "")).out).toContain("the old sender sent it through smtp");
  expect((await world.owed("audit", "--shipment", "F-2")).out).toContain(
    "is for the old sender to send, while Owed is watched beside it",
  );
});

test("cutover --new-merchants: says who sends for those that the ledger first hears of", async () => {
  expect(await world.json("cutover", "--new-merchants", "shadow", "--why", "W")).toMatchObject({
    code: 0,
    value: { was: "owed" },
  });
  await world.db.sql`SELECT owed.register_shipment('G-1', 'shop-of-G', 'Shop', 'T')`;
  expect(await world.db.sql`SELECT mode FROM owed.merchant WHERE id = 'shop-of-G'`).toMatchObject([
    { mode: "shadow" },
  ]);
  expect(await world.json("cutover", "--new-merchants", "owed", "--why", "W")).toMatchObject({
    code: 0,
    value: { was: "shadow" },
  });
  for (const wrong of [
    ["--to", "owed"],
    ["--past", "send"],
    ["--new-merchants", "old", "--past", "send"],
  ])
    expect(await world.owed("cutover", ...wrong, "--why", "W")).toMatchObject({ code: 2 });
});
