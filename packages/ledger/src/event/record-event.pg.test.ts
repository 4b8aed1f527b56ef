import { randomUUID } from "node:crypto";
import postgres from "postgres";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { registerShipment } from "../../../../tests/support/shipment.ts";
import { waitsForLock } from "../testing/race.ts";
import { empty } from "../testing/rows.ts";

// What the platform calls in its own transactions: owed.record_event.

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  await database.sql`CREATE TABLE parcel (id text, status text)`;
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const owedRows = async () => (await database.sql`SELECT id FROM owed.notification`).length;
const refusal = (act: PromiseLike<unknown>) =>
  Promise.resolve(act).then(
    () => null,
    (error) => error,
  );

test("commits with the platform's own change, and returns how many notifications are new", async () => {
  const shipment = await registerShipment(database, ["buyer", "merchant"]);
  await database.sql.begin(async (platform) => {
    await platform`INSERT INTO parcel VALUES (${shipment}, 'delivered')`;
    const call = platform`SELECT owed.record_event('E-1', ${shipment}, 'delivered', clock_timestamp()) AS notifications`;
    expect(await call).toEqual([{ notifications: 2 }]);
    expect(await owedRows(), "nobody sees it before the commit").toBe(0);
  });
  expect(await owedRows()).toBe(2);
});

test("rolled back with it, nothing is there, and the same event can be recorded later", async () => {
  const shipment = await registerShipment(database);
  const record = (sql: typeof database.sql | Parameters<Parameters<typeof database.sql.begin>[1]>[0]) =>
    sql`SELECT owed.record_event('E-1', ${shipment}, 'delivered', '2026-03-29 07:30Z') AS notifications`;
  const error = await refusal(
    database.sql.begin(async (platform) => {
      await record(platform);
      throw new Error("the platform changes its mind");
    }),
  );
  expect(error.message).toBe("the platform changes its mind");
  expect(await database.sql`SELECT FROM owed.event`).toEqual([]);
  expect(await database.sql`SELECT status FROM owed.shipment WHERE id = ${shipment}`).toEqual([
    { status: null },
  ]);
  expect([await record(database.sql), await record(database.sql)]).toEqual([
    [{ notifications: 1 }],
    [{ notifications: 0 }],
  ]);
});

describe("refused, it raises OW001 with the field, so that the change of status does not commit either", () => {
  test.each([
    [
      "id",
      { id: "not an id" },
      "event 'not an id' refused: id must be 1 to 128 characters of A-Z a-z 0-9 . _ : -",
    ],
    ["id", { id: null }, "event without id refused: id must be 1 to 128 characters of A-Z a-z 0-9 . _ : -"],
    ["status", { status: "teleported" }, "event 'E-1' refused: status is not a known status"],
    ["shipment_id", { shipment: "S-nowhere" }, "event 'E-1' refused: shipment_id is not a known shipment"],
    ["occurred_at", { at: "infinity" }, "event 'E-1' refused: occurred_at must be a time"],
    [
      "occurred_at",
      { at: "2999-01-01T00:00:00Z" },
      "event 'E-1' refused: occurred_at is more than five minutes in the future",
    ],
  ])("%s: %j", async (field, change, message) => {
    const given = {
      id: "E-1",
      status: "delivered",
      shipment: await registerShipment(database),
      at: "2026-03-29T07:30:00Z",
      ...change,
    };
    const error = await refusal(
      database.sql.begin(async (platform) => {
        await platform`INSERT INTO parcel VALUES ('refused', 'delivered')`;
        await platform`SELECT owed.record_event(${given.id}, ${given.shipment}, ${given.status}, ${given.at}::text::timestamptz)`;
      }),
    );
    expect(error).toMatchObject({
      code: "OW001",
      column_name: field,
      message,
      hint: expect.stringMatching(/^Correct the field/),
    });
    expect(await database.sql`SELECT FROM parcel WHERE id = 'refused'`).toEqual([]);
    expect(await owedRows()).toBe(0);
  });

  test("an id of a megabyte is cut in the message", async () => {
    const error = await refusal(
      database.sql`SELECT owed.record_event(${"x".repeat(1_000_000)}, 'S', 'delivered', now())`,
    );
    expect(error.message.length).toBeLessThan(300);
  });
});

test("two transactions about one shipment take turns, so that the current status has one meaning", async () => {
  const shipment = await registerShipment(database);
  let second: Promise<unknown> | undefined;
  await database.sql.begin(async (first) => {
    await first`SELECT owed.record_event(${randomUUID()}, ${shipment}, 'out_for_delivery', '2026-03-29 08:00Z')`;
    // Older, and called later: it waits, and then finds that the newer one is current.
    second =
      database.sql`SELECT owed.record_event('E-older', ${shipment}, 'picked_up', '2026-03-29 07:00Z')`.execute();
    await waitsForLock(database.sql);
  });
  await second;
  expect(await database.sql`SELECT status FROM owed.shipment WHERE id = ${shipment}`).toEqual([
    { status: "out_for_delivery" },
  ]);
  expect(
    await database.sql`
    SELECT n.reason FROM owed.notification n JOIN owed.event e ON e.key = n.event_key WHERE e.id = 'E-older'`,
  ).toEqual([{ reason: "superseded" }]);
});

test("in a serializable transaction the same event at once is a conflict to be retried, never a second one", async () => {
  const shipment = await registerShipment(database);
  const record = () =>
    database.sql.begin(
      "isolation level serializable",
      (platform) => platform`SELECT owed.record_event('E-1', ${shipment}, 'delivered', '2026-03-29 07:30Z')`,
    );
  const outcomes = await Promise.allSettled([record(), record(), record(), record()]);
  for (const outcome of outcomes)
    if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "40001" });
  expect(outcomes.some(({ status }) => status === "fulfilled")).toBe(true);
  expect(await owedRows()).toBe(1);
});

describe("the platform's role", () => {
  const platform = "platform_of_test";
  beforeAll(async () => {
    const { sql, options } = database;
    await sql.unsafe(`DROP ROLE IF EXISTS ${platform}`);
    await sql.unsafe(`CREATE ROLE ${platform} LOGIN PASSWORD '${platform}'`);
    await sql.unsafe(`GRANT USAGE ON SCHEMA owed TO ${platform}`);
    await sql.unsafe(
      `GRANT EXECUTE ON FUNCTION owed.record_event, owed.register_shipment, owed.subscribe, owed.opt_out TO ${platform}`,
    );
    client = postgres({
      ...inject("cluster"),
      database: options.database,
      user: platform,
      password: platform,
      max: 1,
      onnotice: () => {},
    });
  });
  afterAll(async () => {
    await client.end();
    await database.sql.unsafe(`DROP OWNED BY ${platform}`);
    await database.sql.unsafe(`DROP ROLE ${platform}`);
  });
  let client: postgres.Sql;

  test("registers, subscribes, records and opts out by the four functions alone", async () => {
    await client`SELECT owed.register_shipment('S-role', 'M-role', 'Shop', 'T-1')`;
    await client`SELECT owed.subscribe('S-role', 'buyer-1', 'buyer', 'email', 'a@example.com')`;
    expect(
      await client`SELECT owed.record_event('E-1', 'S-role', 'delivered', now()) AS notifications`,
    ).toEqual([{ notifications: 1 }]);
    expect(await client`SELECT owed.opt_out('S-role', 'buyer-1', 'email') AS done`).toEqual([{ done: true }]);
  });

  test.each([
    ["reads no addresses", "SELECT address FROM owed.subscriber"],
    ["writes no rows", "DELETE FROM owed.notification"],
    ["calls nothing else", "SELECT owed.try_record_event('E-2', 'S-role', 'delivered', now())"],
  ])("%s", async (_, statement) => {
    expect(await refusal(client.unsafe(statement))).toMatchObject({ code: "42501" });
  });

  test("is not led astray by a table or function of its own", async () => {
    await client`CREATE TEMP TABLE status (name text)`;
    expect(
      await refusal(client`SELECT owed.record_event('E-3', 'S-role', 'teleported', now())`),
    ).toMatchObject({ code: "OW001", column_name: "status" });
  });
});
