import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { happen, registerShipment } from "../../../../tests/support/shipment.ts";
import { NotAllowed, Refused } from "../connect/errors.ts";
import { Ledger } from "../connect/ledger.ts";
import { waitsForLock } from "../testing/race.ts";
import { readRows } from "../testing/rows.ts";
import { listRules } from "./list-rules.ts";
import { retireRule } from "./retire-rule.ts";
import type { Rule, RuleVersion } from "./rule.ts";
import { setRule, trySettingRule } from "./set-rule.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  await database.sql`INSERT INTO owed.merchant (id, name) SELECT 'M-' || n, 'Shop' FROM generate_series(0, 99) n`;
});
afterAll(() => database.drop());

let merchants = 0;
const anybody = () => `M-${merchants++}`;
const act = { actor: "ann", why: "asked for" };
const rule = (more: Partial<Rule> = {}): Omit<Rule, "id"> => ({
  ...{ merchantId: null, status: "delivered", role: "buyer", channel: "email", template: "delivered.own" },
  ...{ delay: 60, atTime: null, sendWithin: 3600, onlyWhileCurrent: false, newestReplaces: true },
  ...{ onUnknown: "resend", silent: false },
  ...more,
});
const set = (more: Partial<Rule>, by = act) => setRule(database.ledger, rule(more), by);
const versionsOf = async (merchantId: string): Promise<RuleVersion[]> =>
  (await listRules(database.ledger, { merchantId, history: true })).filter(
    (version) => version.merchantId === merchantId,
  );

describe("a rule that is set", () => {
  test("is a first version, by somebody for a reason", async () => {
    const merchantId = anybody();
    const id = await set({ merchantId, atTime: "09:00", sendWithin: 100_000, onUnknown: "hold" });
    expect(await versionsOf(merchantId)).toEqual([
      {
        ...rule({ merchantId, atTime: "09:00", sendWithin: 100_000, onUnknown: "hold" }),
        ...{ id, version: 1, active: true, setAt: expect.any(Date), setBy: "ann", setWhy: "asked for" },
        ...{ retiredAt: null, retiredBy: null, retiredWhy: null },
      },
    ]);
  });

  test.each<Partial<Rule>>([
    { delay: 0 },
    { atTime: "09:00", sendWithin: 100_000 },
    { sendWithin: null },
    { onlyWhileCurrent: true },
    { newestReplaces: false },
    { onUnknown: "hold" },
    { silent: true },
  ])("anew gets the next version, and the older one stays: %j", async (change) => {
    const merchantId = anybody();
    const first = await set({ merchantId });
    const second = await set({ merchantId, ...change }, { actor: "bob", why: "again" });
    expect(second).not.toBe(first);
    const ended = { active: false, retiredAt: expect.any(Date), retiredBy: "bob", retiredWhy: "again" };
    expect(await versionsOf(merchantId)).toMatchObject([
      {
        ...rule({ merchantId, ...change }),
        id: second,
        version: 2,
        active: true,
        setBy: "bob",
        setWhy: "again",
      },
      { ...rule({ merchantId }), id: first, version: 1, setBy: "ann", ...ended },
    ]);
    expect(await database.sql`SELECT replaces::text FROM owed.rule WHERE id = ${second}`).toEqual([
      { replaces: first },
    ]);
  });

  test.each<Partial<Rule>>([{}, { atTime: "09:00", sendWithin: null }, { silent: true }])(
    "as it is gets no version: %j",
    async (same) => {
      const merchantId = anybody();
      const first = await set({ merchantId, ...same });
      expect(await set({ merchantId, ...same }, { actor: "bob", why: "again" })).toBe(first);
      expect(await versionsOf(merchantId)).toMatchObject([{ id: first, version: 1, retiredAt: null }]);
    },
  );

  test("leaves those of another merchant, status, role, channel or template alone", async () => {
    const [merchantId, other] = [anybody(), anybody()];
    await set({ merchantId });
    for (const elsewhere of [
      { merchantId: other },
      { merchantId, status: "returned" },
      { merchantId, role: "agent" as const },
      { merchantId, channel: "sms" },
      { merchantId, template: "delivered.other" },
    ])
      await set({ ...elsewhere, delay: 5 });
    const all = [...(await versionsOf(merchantId)), ...(await versionsOf(other))];
    expect(all.map(({ version, active }) => [version, active])).toEqual(Array(6).fill([1, true]));
  });

  test("for everybody is a version of the default one", async () => {
    const shared = { status: "picked_up", role: "buyer", channel: "email", template: "picked_up" } as const;
    const id = await set({ ...shared, delay: 77 });
    const [newest, older] = (await listRules(database.ledger, { status: "picked_up", history: true })).filter(
      ({ merchantId, role, channel, template }) =>
        merchantId === null && role === "buyer" && channel === "email" && template === "picked_up",
    );
    expect(newest).toMatchObject({ id, version: 2, delay: 77, active: true });
    expect(older).toMatchObject({ version: 1, active: false, setBy: "owed", setWhy: "the default rules" });
  });

  test("counts from the next event on: what is owed keeps the version that it came from", async () => {
    const merchantId = anybody();
    const shipment = await registerShipment(database);
    await database.sql`UPDATE owed.shipment SET merchant_id = ${merchantId} WHERE id = ${shipment}`;
    const versions = [];
    for (const delay of [60, 120]) {
      versions.push(await set({ merchantId, delay, newestReplaces: false }));
      await happen(database, shipment, "delivered");
    }
    const rows = await database.sql`
      SELECT n.rule_id::text AS rule, round(extract(epoch FROM n.due_at - e.occurred_at))::int AS delay
      FROM owed.notification n JOIN owed.event e ON e.key = n.event_key WHERE e.shipment_id = ${shipment} ORDER BY n.id`;
    expect(rows).toEqual([
      { rule: versions[0], delay: 60 },
      { rule: versions[1], delay: 120 },
    ]);
    await set({ merchantId, silent: true });
    await happen(database, shipment, "delivered");
    expect(await readRows(database, shipment), "a silent one tells nobody").toHaveLength(2);
  });
});

describe("a version is final", () => {
  const columns = [
    ...["merchant_id = 'M-1'", "status = 'returned'", "role = 'agent'", "channel = 'sms'", "template = 'x'"],
    ...["delay_s = 1", "at_time = '09:00'", "send_within_s = 9999", "only_while_current = true"],
    ...["newest_replaces = false", "on_unknown = 'hold'", "version = 7", "replaces = id", "silent = true"],
    ...["set_at = now()", "set_by = 'eve'", "set_why = 'because'"],
  ];
  test("whichever column it is", async () => {
    const id = await set({ merchantId: anybody() });
    for (const column of columns)
      await expect(
        database.sql.unsafe(`UPDATE owed.rule SET ${column} WHERE id = ${id}`),
        column,
      ).rejects.toMatchObject({ code: "OW004", message: expect.stringContaining(`rule ${id} is version 1`) });
  });

  test("and one that is retired stays so, with who did it", async () => {
    const merchantId = anybody();
    const id = await set({ merchantId });
    await retireRule(database.ledger, id, { actor: "bob", why: "not wanted" });
    for (const column of ["active = true", "retired_by = 'eve'", "retired_at = NULL"])
      await expect(
        database.sql.unsafe(`UPDATE owed.rule SET ${column} WHERE id = ${id}`),
        column,
      ).rejects.toMatchObject({ code: "OW004" });
    await expect(retireRule(database.ledger, id, act)).rejects.toBeInstanceOf(NotAllowed);
    expect(await versionsOf(merchantId)).toMatchObject([
      { active: false, retiredBy: "bob", retiredWhy: "not wanted", retiredAt: expect.any(Date) },
    ]);
  });

  test("one that does not count says since when", async () => {
    const id = await set({ merchantId: anybody() });
    await expect(database.sql`UPDATE owed.rule SET active = false WHERE id = ${id}`).rejects.toMatchObject({
      code: "23514",
    });
  });
});

describe("is refused for its", () => {
  const year = 366 * 86_400;
  test.each<[field: string, Partial<Rule>]>([
    ["merchant_id", { merchantId: "nobody" }],
    ["status", { status: "melted" }],
    ["role", { role: "spy" as "buyer" }],
    ["channel", { channel: "pigeon" }],
    ["template", { template: "" }],
    ["template", { template: "Own Words" }],
    ["template", { template: "t".repeat(61) }],
    ["delay", { delay: -1 }],
    ["delay", { delay: year + 1, sendWithin: null }],
    ["send_within", { delay: 60, sendWithin: 60 }],
    ["send_within", { delay: 60, atTime: "09:00", sendWithin: 60 + 26 * 3600 }],
    ["on_unknown", { onUnknown: "ask" as "hold" }],
  ])("%s: %j", async (field, wrong) => {
    const merchantId = anybody();
    const error = await set({ merchantId, ...wrong }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Refused);
    expect(error).toMatchObject({ field, message: expect.stringMatching(`^${field} (is|must)`) });
    expect(await versionsOf(merchantId)).toEqual([]);
  });

  test.each<Partial<Rule>>([
    { delay: 0, sendWithin: 1 },
    { delay: year, sendWithin: null },
    { delay: 60, sendWithin: 61 },
    { delay: 60, atTime: "00:00", sendWithin: 61 + 26 * 3600 },
    { template: "t".repeat(60) },
  ])("but not at the very edge: %j", async (right) => {
    const merchantId = anybody();
    expect(await set({ merchantId, ...right })).toBe((await versionsOf(merchantId))[0]?.id);
  });
});

describe("set by several at once", () => {
  /** Each has a connection of its own, and all are under way at one time. */
  async function together(
    merchantId: string,
    delays: readonly number[],
  ): Promise<PromiseSettledResult<string>[]> {
    const ledgers = delays.map(() => new Ledger({ ...database.options, connections: 1 }));
    let answers: Promise<PromiseSettledResult<string>[]> = Promise.resolve([]);
    await database.sql.begin(async (holder) => {
      await holder`LOCK TABLE owed.rule IN SHARE ROW EXCLUSIVE MODE`;
      answers = Promise.allSettled(
        delays.map((delay, place) =>
          setRule(ledgers[place] ?? database.ledger, rule({ merchantId, delay }), act),
        ),
      );
      await waitsForLock(database.sql, delays.length);
    });
    const settled = await answers;
    await Promise.all(ledgers.map((ledger) => ledger.close()));
    return settled;
  }

  test.each([true, false])(
    "one counts at the end, and every version has its number (a rule stood before: %s)",
    async (before) => {
      const merchantId = anybody();
      if (before) await set({ merchantId, delay: 5 });
      const settled = await together(merchantId, [10, 20, 30]);
      expect(settled.map(({ status }) => status)).toEqual(Array(3).fill("fulfilled"));
      const versions = await versionsOf(merchantId);
      const numbers = before ? [4, 3, 2, 1] : [3, 2, 1];
      expect(versions.map(({ version, active }) => [version, active])).toEqual(
        numbers.map((number, place) => [number, place === 0]),
      );
    },
  );

  test("a rule that was retired goes on with its numbers when it is set again", async () => {
    const merchantId = anybody();
    await retireRule(database.ledger, await set({ merchantId }), act);
    await set({ merchantId });
    expect((await versionsOf(merchantId)).map(({ version, active }) => [version, active])).toEqual([
      [2, true],
      [1, false],
    ]);
  });
});

test("each of the roles can be told", async () => {
  const merchantId = anybody();
  for (const role of ["buyer", "merchant", "agent", "warehouse"] as const) await set({ merchantId, role });
  expect((await versionsOf(merchantId)).map(({ role }) => role)).toEqual([
    "agent",
    "buyer",
    "merchant",
    "warehouse",
  ]);
});

test.each(["role", "template", "delay", "on_unknown"])(
  "is refused without its %s, by its name",
  async (field) => {
    const given: Record<string, string | number | null> = {
      role: "buyer",
      template: "own",
      delay: 0,
      on_unknown: "hold",
    };
    given[field] = null;
    const answer = database.sql`
    SELECT owed.set_rule(NULL, 'delivered', ${given.role ?? null}, 'email', ${given.template ?? null}, ${given.delay ?? null}, NULL, NULL,
      false, true, ${given.on_unknown ?? null}, 'ann', 'a test')`;
    await expect(answer).rejects.toMatchObject({ code: "OW003", column_name: field });
  },
);

test("a dry run sets nothing, and says whether anything would be set", async () => {
  const merchantId = anybody();
  expect(await trySettingRule(database.ledger, rule({ merchantId }), act)).toBeNull();
  expect(await versionsOf(merchantId)).toEqual([]);
  const id = await set({ merchantId });
  expect(await trySettingRule(database.ledger, rule({ merchantId }), act)).toBe(id);
  expect(await trySettingRule(database.ledger, rule({ merchantId, delay: 0 }), act)).toBeNull();
  expect(await versionsOf(merchantId)).toMatchObject([{ id, version: 1, active: true }]);
});
