import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { owe } from "../../../tests/support/shipment.ts";
import { countStopped } from "./ask/count-stopped.ts";
import { findNotified } from "./ask/find-notified.ts";
import { listBeats } from "./ask/list-beats.ts";
import { readCourse } from "./ask/read-course.ts";
import { readPulse } from "./ask/read-pulse.ts";
import { hearRecipients } from "./channel/hear-recipient.ts";
import { Ledger } from "./connect/ledger.ts";
import { recordEvidence } from "./deliver/record-evidence.ts";
import { defaultDurations } from "./durations.ts";
import { keepRefusedEvent } from "./event/keep-refused-event.ts";
import { listRules } from "./rule/list-rules.ts";
import { retireRule } from "./rule/retire-rule.ts";
import type { Rule } from "./rule/rule.ts";
import { setRule } from "./rule/set-rule.ts";
import { tryRules } from "./rule/try-rules.ts";
import { abandonSweep } from "./sweep/abandon-sweep.ts";
import { beginSweep } from "./sweep/begin-sweep.ts";
import { release } from "./sweep/release.ts";
import { look, proofOf, take } from "./testing/act.ts";
import { empty, newRow } from "./testing/rows.ts";

// What each role may do stands whole in migrations/schema.sql, as the catalogs have it; here is what must never be
// among it. That it is enough is tried by every test that goes through a function's handler, or the command line.

const roles = ["ingest", "sweep", "deliver", "feedback", "operator", "reader", "platform"] as const;
type Role = (typeof roles)[number];

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

test("they log in, with no password and no right over the cluster, and no more of them at once than is meant", async () => {
  const found = await database.sql`
    SELECT substr(rolname, 6) AS role, rolcanlogin AS login, rolpassword IS NOT NULL AS password, rolconnlimit AS connections,
      rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls AS more
    FROM pg_authid WHERE starts_with(rolname, 'owed_') ORDER BY 1`;
  const most = { ingest: 16, sweep: 8, deliver: 32, feedback: 16, operator: 8, reader: 8, platform: 20 };
  expect(found).toEqual(
    roles
      .toSorted()
      .map((role) => ({ role, login: true, password: false, more: false, connections: most[role] })),
  );
});

/** The roles that have a privilege on a column of the schema, or on all of its table. */
async function whoMay(privilege: string, table: string, column: string): Promise<Role[]> {
  const may = await database.sql<{ role: Role }[]>`
    SELECT role FROM unnest(${database.sql.array([...roles])}::text[]) WITH ORDINALITY AS given (role, place)
    WHERE has_column_privilege('owed_' || role, ${`owed.${table}`}, ${column}, ${privilege}) ORDER BY place`;
  return may.map(({ role }) => role);
}

test.each<[table: string, column: string, who: Role[]]>([
  ["subscriber", "address", ["deliver", "feedback"]],
  ["subscriber", "name", ["deliver"]],
  ["notification", "sent_to", ["deliver", "feedback", "operator", "reader"]],
  ["suppression", "address", ["deliver", "feedback", "operator", "reader"]],
  ["refused_event", "body", ["operator", "reader"]],
  ["merchant", "name", ["deliver", "operator", "reader"]],
])("personal data: %s.%s is read by those alone who need it", async (table, column, who) => {
  expect(await whoMay("SELECT", table, column)).toEqual(who);
});

test("only a fan-out, and an operator, owe anything new", async () => {
  expect(await whoMay("INSERT", "notification", "id")).toEqual(["operator"]);
});

test("nobody deletes, and who only looks changes nothing", async () => {
  const changing = await database.sql`
    SELECT t.relname AS table, role, kind
    FROM pg_class t, unnest(${database.sql.array([...roles])}::text[]) AS role,
      unnest(ARRAY['DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER', 'INSERT', 'UPDATE']) AS kind
    WHERE t.relnamespace = 'owed'::regnamespace AND t.relkind IN ('r', 'v')
      AND CASE WHEN kind IN ('DELETE', 'TRUNCATE', 'TRIGGER') THEN has_table_privilege('owed_' || role, t.oid, kind)
        ELSE has_any_column_privilege('owed_' || role, t.oid, kind) END
      AND (role = 'reader' OR kind NOT IN ('INSERT', 'UPDATE'))`;
  expect(changing).toEqual([]);
  expect(
    await database.sql`SELECT role FROM unnest(${database.sql.array([...roles])}::text[]) AS role
      WHERE has_schema_privilege('owed_' || role, 'owed', 'CREATE')`,
  ).toEqual([]);
});

test("the platform calls its own functions, and neither reads nor changes a table", async () => {
  const functions = await database.sql`
    SELECT proname AS name FROM pg_proc
    WHERE pronamespace = 'owed'::regnamespace AND has_function_privilege('owed_platform', oid, 'EXECUTE') ORDER BY 1`;
  expect(functions.map(({ name }) => name)).toEqual([
    "describe_merchant",
    ...["old_claim", "old_due", "old_gave_up", "old_sent"],
    ...["opt_out", "record_event", "register_shipment", "subscribe", "timer_event_id"],
  ]);
  const tables = await database.sql`
    SELECT relname, kind
    FROM pg_class, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'REFERENCES', 'DELETE', 'TRUNCATE', 'TRIGGER']) AS kind
    WHERE relnamespace = 'owed'::regnamespace AND relkind IN ('r', 'v')
      AND CASE WHEN kind IN ('DELETE', 'TRUNCATE', 'TRIGGER') THEN has_table_privilege('owed_platform', oid, kind)
        ELSE has_any_column_privilege('owed_platform', oid, kind) END`;
  expect(tables).toEqual([]);
});

test("everybody else has nothing: functions are granted by name", async () => {
  const schema = await database.sql`
    SELECT a.privilege_type FROM pg_namespace n, aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) a
    WHERE n.oid = 'owed'::regnamespace AND a.grantee = 0`;
  const objects = await database.sql`
    SELECT p.proname FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
    WHERE p.pronamespace = 'owed'::regnamespace AND a.grantee = 0
    UNION ALL
    SELECT c.relname FROM pg_class c, aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) a
    WHERE c.relnamespace = 'owed'::regnamespace AND c.relkind IN ('r', 'v') AND a.grantee = 0`;
  expect([...schema, ...objects]).toEqual([]);
});

/** The ledger as a role has it. */
async function as<T>(role: Role, work: (ledger: Ledger) => Promise<T>): Promise<T> {
  const ledger = new Ledger({ ...database.options, role: `owed_${role}`, connections: 1 });
  return work(ledger).finally(() => ledger.close());
}

describe("may do what no test of a function does", () => {
  test("deliver: bring an acceptance as evidence, when the row is no longer its own", async () => {
    const id = await newRow(database, "queued");
    const weighed = await as("deliver", (ledger) => recordEvidence(ledger, [proofOf(id)]));
    expect(weighed).toMatchObject([{ id, result: "proven" }]);
  });

  test("feedback: keep an event that is none of this ledger's", async () => {
    const event = {
      messageId: "M",
      queue: "feedback",
      field: "notification",
      reason: "is not there",
      body: "{}",
    } as const;
    await as("feedback", (ledger) => keepRefusedEvent(ledger, event));
    expect(await database.sql`SELECT message_id FROM owed.refused_event`).toEqual([{ message_id: "M" }]);
  });

  test("platform: register, describe, subscribe, record and opt out, as may a role that it is granted to", async () => {
    for (const role of ["owed_platform", "test_shop"]) {
      const done = await database.sql.begin(async (sql) => {
        if (role !== "owed_platform") await sql.unsafe(`CREATE ROLE ${role}; GRANT owed_platform TO ${role}`);
        await sql.unsafe(`SET LOCAL ROLE ${role}`);
        await sql`SELECT owed.register_shipment(${role}, 'shop-7', 'Shop Seven', 'TRACK123')`;
        await sql`SELECT owed.describe_merchant('shop-7', 'https://shop.example/{tracking_number}', 'Europe/Vienna')`;
        await sql`SELECT owed.subscribe(${role}, 'buyer-1', 'buyer', 'email', 'ann@example.com', 'Ann', 'en', 'Europe/Rome')`;
        const [answer] = await sql`
          SELECT owed.record_event(${role}, ${role}, 'customs_hold', now()) AS owes, owed.opt_out(${role}, 'buyer-1', 'email') AS left`;
        await sql.unsafe(`RESET ROLE; ${role === "owed_platform" ? "" : `DROP ROLE ${role}`}`);
        return answer;
      });
      expect(done).toEqual({ owes: 2, left: true });
    }
  });

  test("operator: set a rule, and retire it; who only looks, too, tries what the rules say", async () => {
    const [shipment = ""] = await owe(database, 1);
    const rule: Omit<Rule, "id"> = {
      ...{ merchantId: "M-1", status: "returned", role: "buyer", channel: "email", template: "returned" },
      ...{ delay: 0, atTime: null, sendWithin: null, onlyWhileCurrent: false, newestReplaces: true },
      ...{ onUnknown: "resend", silent: false },
    };
    const act = { actor: "ann", why: "their own" };
    const id = await as("operator", (ledger) => setRule(ledger, rule, act));
    const trial = { shipmentId: shipment, status: "returned", occurredAt: new Date().toISOString() };
    for (const role of ["operator", "reader"] as const) {
      expect(await as(role, (ledger) => tryRules(ledger, trial)), role).toMatchObject([{ ruleId: id }]);
      const listed = await as(role, (ledger) => listRules(ledger, { merchantId: "M-1", history: true }));
      expect(listed.at(-1), role).toMatchObject({ id, version: 1 });
    }
    await as("operator", (ledger) => retireRule(ledger, id, act));
  });

  test.each(["operator", "reader"] as const)("%s: ask what the operators' page shows", async (role) => {
    const [shipment = ""] = await owe(database, 1);
    await as(role, async (ledger) => {
      for (const [by, value] of [
        ["address", "BUYER1@example.com"],
        ["recipient", "buyer-1"],
      ] as const)
        expect((await findNotified(ledger, { by, value, most: 1 }))[0]).toMatchObject({
          shipmentId: shipment,
        });
      expect(await findNotified(ledger, { by: "message", value: "nix", most: 1 })).toEqual([]);
      // So long that the archive is asked too.
      const { points } = await readCourse(ledger, { seconds: 30 * 86_400, step: 60 });
      expect(points.at(-1)).toMatchObject({ owed: 1 });
      expect(await readPulse(ledger)).toMatchObject({ owed: 1 });
      expect(await countStopped(ledger)).toEqual([]);
      expect(await listBeats(ledger, 1)).toEqual([]);
    });
  });

  test("feedback: hear what a recipient said, be it for the first time, or of an address that is out of use", async () => {
    const word = { channel: "sms", address: "+436601234567" };
    const said = [
      { ...word, word: "start", at: 1 },
      { ...word, word: "stop", at: 2 },
      { ...word, word: "stop", at: 3 },
      { ...word, word: "start", at: 4 },
    ] as const;
    for (const one of said) await as("feedback", (ledger) => hearRecipients(ledger, [one]));
    expect(await database.sql`SELECT lifted_by FROM owed.suppression`).toEqual([
      { lifted_by: "recipient" },
      { lifted_by: "recipient" },
    ]);
  });

  test.each(["sweep", "operator"] as const)(
    "%s: give rows back, look again, and give up its beat",
    async (role) => {
      await owe(database, 2);
      const { leased } = await take(database);
      await as(role, async (ledger) => {
        const begun = await beginSweep(ledger, defaultDurations);
        if (!begun.taken) throw new Error("the heartbeat was not free");
        expect(
          await release(
            ledger,
            leased.map((row) => ({ ...row, wait: 5 })),
          ),
        ).toBe(2);
        expect(await look({ ledger })).toMatchObject({ taken: 0 });
        await abandonSweep(ledger, begun.run);
      });
      expect(await database.sql`SELECT holder FROM owed.heartbeat`).toEqual([{ holder: null }]);
    },
  );
});

describe("is refused, whoever has got hold of a function", () => {
  const everything = "SELECT * FROM owed.subscriber";
  const register = "SELECT owed.register_shipment('S-x', 'm', 'Shop', 'T')";
  const subscribe = "SELECT owed.subscribe('S-x', 'b', 'buyer', 'email', 'a@example.com')";
  const whose = "SELECT * FROM owed.find_notified('address', 'a@example.com', 1)";
  const forge = "SELECT owed.try_record_event('E-x', 'S-x', 'delivered', now())";
  test.each<[Role, what: string, statement: string]>([
    ["ingest", "read what is owed", "SELECT * FROM owed.notification"],
    ["ingest", "read an address", everything],
    ["ingest", "register a shipment", register],
    ["ingest", "find out whose an address is", whose],
    ["ingest", "read what was refused", "SELECT body FROM owed.refused_event"],
    [
      "ingest",
      "fan out by a way of its own",
      "SELECT owed.record_and_fan_out('E-x', 'S-x', 'delivered', now())",
    ],
    ["sweep", "read an address", "SELECT address FROM owed.subscriber"],
    ["sweep", "read where something went", "SELECT sent_to FROM owed.notification"],
    [
      "sweep",
      "say that something was delivered",
      "UPDATE owed.notification SET delivered_at = now(), evidence = 'reply'",
    ],
    ["sweep", "record an event", forge],
    ["sweep", "find out whose an address is", whose],
    ["sweep", "resume what was paused", "UPDATE owed.heartbeat SET paused_at = NULL"],
    ["deliver", "register a shipment", register],
    ["deliver", "subscribe somebody", subscribe],
    ["deliver", "correct an address", "UPDATE owed.subscriber SET address = 'a@example.com'"],
    ["deliver", "record an event", forge],
    ["deliver", "lift a suppression", "UPDATE owed.suppression SET lifted_at = now()"],
    ["deliver", "change what is told", "UPDATE owed.rule SET template = 'delivered'"],
    ["feedback", "read a name", "SELECT name FROM owed.subscriber"],
    ["feedback", "find out whose an address is", whose],
    ["feedback", "open a channel", "UPDATE owed.channel SET closed_until = NULL"],
    ["feedback", "have something sent again", "UPDATE owed.notification SET generation = generation + 1"],
    ["operator", "read a subscriber's address", everything],
    ["operator", "subscribe somebody", subscribe],
    ["operator", "change an event", "UPDATE owed.event SET occurred_at = now()"],
    ["operator", "change the record of what was done", "UPDATE owed.attempt SET actor = 'nobody'"],
    ["reader", "change anything", "UPDATE owed.notification SET state = 'cancelled'"],
    ["reader", "record an event", forge],
    ["reader", "read a subscriber's name", "SELECT name FROM owed.subscriber"],
    ["reader", "change the schema", "CREATE TABLE owed.mine ()"],
    ["platform", "read what is owed", "SELECT * FROM owed.notification"],
    ["platform", "find out whose an address is", whose],
    ["platform", "read an address that it gave", "SELECT address FROM owed.subscriber"],
    ["platform", "owe something without an event", "INSERT INTO owed.notification DEFAULT VALUES"],
    ["platform", "take back an opt-out", "UPDATE owed.subscriber SET opted_out_at = NULL"],
    ["platform", "record an event by the functions' own way", forge],
  ])("%s: to %s", async (role, _, statement) => {
    await owe(database, 1);
    const done = database.sql.begin(async (transaction) => {
      await transaction.unsafe(`SET LOCAL ROLE owed_${role}`);
      await transaction.unsafe(statement);
    });
    await expect(done).rejects.toMatchObject({
      code: "42501",
      message: expect.stringContaining("permission denied"),
    });
  });
});
