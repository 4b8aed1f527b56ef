import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { Refused } from "../connect/errors.ts";
import { keepRefusedEvent } from "../event/keep-refused-event.ts";
import { everything, forgetEverybody, tell, watch } from "../testing/person.ts";
import { empty } from "../testing/rows.ts";
import { erase, type Person } from "./erase.ts";

// What an erasure leaves alone: the words about others, whatever the person's address or name is.

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(async () => {
  await empty(database);
  await forgetEverybody(database);
});
afterAll(() => database.drop());

const erased = (person: Person) =>
  erase(database.ledger, person, { actor: "ana", why: "request 4711" }, { dryRun: false });

/** An attempt at a notification, with its reason. */
const attempt = (id: string, reason: string) =>
  database.sql`INSERT INTO owed.attempt (notification_id, kind, generation, reason) VALUES (${id}, 'failed', 0, ${reason})`;

const reasonsOf = async (id: string): Promise<string[]> => {
  const rows = await database.sql<{ reason: string }[]>`
    SELECT reason FROM owed.attempt WHERE notification_id = ${id} ORDER BY id`;
  return rows.map(({ reason }) => reason);
};

const refuse = (body: string) =>
  keepRefusedEvent(database.ledger, {
    ...{ messageId: randomUUID(), queue: "event", field: "id", reason: "is unknown", body },
  });

/** Somebody else, told once. */
const other = async () =>
  tell(database, await watch(database, { address: "jo@example.com", name: "Jo Quill" }));

test.each(["-", "n/a", "e", "550", "try"])(
  "an address that is none, %j, is erased where it stands, nowhere else",
  async (address) => {
    const id = await other();
    await attempt(id, "550 n/a: no answer - try again");
    const body = '{"id":"E-99","unit":"n/a","why":"550 - try"}';
    await refuse(body);
    const shipment = await watch(database, { address, name: "try" });
    expect(await erased({ shipmentId: shipment, recipientId: "buyer-1" })).toMatchObject({
      ...{ subscribers: 1, refusedEvents: 0, texts: 0 },
    });
    expect(await reasonsOf(id)).toEqual(["550 n/a: no answer - try again"]);
    expect(await database.sql`SELECT convert_from(body, 'UTF8') AS body FROM owed.refused_event`).toEqual([
      { body },
    ]);
    await watch(database, { address });
    expect(await erased({ address })).toMatchObject({ subscribers: 1, refusedEvents: 0, texts: 0 });
    expect(await reasonsOf(id)).toEqual(["550 n/a: no answer - try again"]);
  },
);

test.each(["-", "e", "ann", "123456", "http://ann.example", "@example.com"])(
  "by %j, which nobody has and is no address, it is refused",
  async (address) => {
    await other();
    await expect(erased({ address })).rejects.toThrow(Refused);
    await expect(erased({ address })).rejects.toThrow(
      /^address must be an email address, .* or exactly what a subscriber has$/,
    );
  },
);

test("nobody has the address; there is no such recipient", async () => {
  const shipment = await watch(database, { address: "jo@example.com" });
  for (const person of [
    { address: "ann@example.com" },
    { address: "jo@example.com", channel: "sms" },
    { shipmentId: "S-none", recipientId: "buyer-1" },
    { shipmentId: shipment, recipientId: "buyer-2" },
  ])
    expect(await erased(person)).toBeNull();
  expect(await database.sql`SELECT FROM owed.erasure`).toHaveLength(0);
});

test.each([
  ["ann@example.com", "550 <Ann@example.com>: unknown", "550 <[erased]>: unknown"],
  ["ann@example.com", "ann@example.com.", "[erased]."],
  ["ann@example.com", 'said "to='.concat("'ann@example.com'\""), "said \"to='[erased]'\""],
  ["ann@example.com", "joann@example.com, jo.ann@example.com", "joann@example.com, jo.ann@example.com"],
  ["ann@example.com", "ann@example.com.au, ann@example.company", "ann@example.com.au, ann@example.company"],
  ["+43 664 1234567", "to +436641234567, +43 664 1234567", "to [erased], [erased]"],
  ["+436641234567", "+4366412345678", "+4366412345678"],
  ["1234567", "order E-1234567, 12345678, 1234567", "order E-1234567, 12345678, [erased]"],
  ["https://shop.example/hook", "https://shop.example/hook: 410", "[erased]: 410"],
  [
    "https://shop.example/hook",
    "https://shop.example/hook/2, https://shop.example/hook2",
    "https://shop.example/hook/2, https://shop.example/hook2",
  ],
])("of others' words, %s alone is taken out, as a whole: %s", async (address, reason, left) => {
  const id = await other();
  await attempt(id, reason);
  await watch(database, { address });
  await erased({ address });
  expect(await reasonsOf(id)).toEqual([left]);
});

test.each([
  ['{"to":"ann@example.com"}', true],
  ['{"Message":"{\\"to\\":\\"Ann@example.com\\"}"}', true],
  ['{"why":"550\\nann@example.com\\u003e"}', true],
  ['{"why":"\\u003cann@example.com\\u003e"}', true],
  ['{"city":"Köln","to":"ann@example.com"}', true],
  ['{"to":"joann@example.com"}', false],
  ['{"name":"Ann Lee"}', false],
])("a refused event is emptied where the address stands in it: %s", async (body, emptied) => {
  await refuse(body);
  await watch(database, { address: "ann@example.com", name: "Ann Lee" });
  expect(await erased({ address: "ann@example.com" })).toMatchObject({ refusedEvents: emptied ? 1 : 0 });
});

test("what says that something was erased is not erased", async () => {
  const shipment = await watch(database, { address: "ann@example.com", name: "Erased" });
  const id = await tell(database, shipment);
  await attempt(id, "Erased <ann@example.com> [erased], Ann@Example.com");
  await erased({ shipmentId: shipment, recipientId: "buyer-1" });
  expect(await reasonsOf(id)).toEqual(["[erased] <[erased]> [erased], [erased]"]);
});

test("of a shipment's recipient, only its own attempts are read, however many there are", async () => {
  const others = await other();
  await database.sql`
    INSERT INTO owed.attempt (notification_id, kind, generation, reason)
    SELECT ${others}, 'failed', 0, 'ECONNRESET' FROM generate_series(1, 20000)`;
  await database.sql`ANALYZE owed.attempt`;
  const shipment = await watch(database, { address: "ann@example.com" });
  const mine = await tell(database, shipment);
  await attempt(mine, "550 ann@example.com");
  const read = await database.sql.begin(async (sql) => {
    await sql`SELECT * FROM owed.erase(NULL, NULL, ${shipment}, 'buyer-1', 'ana', 'w', false)`;
    const [row] = await sql<{ read: number }[]>`
      SELECT (seq_tup_read + idx_tup_fetch)::int AS read FROM pg_stat_xact_user_tables WHERE relid = 'owed.attempt'::regclass`;
    return row?.read;
  });
  expect(read).toBeLessThan(100);
  expect(await everything(database)).not.toContain("ann@example.com");
});
