import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { readChannel, setChannel, shut } from "../testing/channel.ts";
import { empty } from "../testing/rows.ts";
import { recordRecovery } from "./record-recovery.ts";
import { recordTrouble } from "./record-trouble.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const breaker = { failures: 4, first: 30, longest: 120 };
const trouble = { channel: "email", answered: false, failures: 4, close: null, why: "Down" };

test("what one channel meets, and recovers from, is no other one's", async () => {
  const before = await readChannel(database, "sms");
  expect(await recordTrouble(database.ledger, breaker, trouble)).toBe("down");
  expect(await readChannel(database, "sms")).toEqual(before);
  await setChannel(database, { failures: "2" }, "sms");
  await setChannel(database, { closed_until: "now()" });
  expect(await recordRecovery(database.ledger, "email")).toBe(true);
  expect(await readChannel(database, "sms")).toMatchObject({ failures: 2 });
});

test("a provider that answered one of the batch is not down, whatever failed besides", async () => {
  expect(
    await recordTrouble(database.ledger, breaker, { ...trouble, answered: true, failures: 9 }),
  ).toBeNull();
});

test.each<[string, () => Promise<void>]>([
  ["openings alone", () => setChannel(database, { openings: "1" })],
  ["a closing that is over", () => shut(database, 0)],
])("an answer forgets %s", async (_, arrange) => {
  await arrange();
  expect(await recordRecovery(database.ledger, "email")).toBe(true);
  expect(await readChannel(database)).toMatchObject({ openings: 0, closed: null });
  expect(await recordRecovery(database.ledger, "email")).toBe(false);
});

test("what the provider says counts, and the breaker only guesses", async () => {
  const close = { for: "account", seconds: 300 } as const;
  expect(await recordTrouble(database.ledger, breaker, { ...trouble, failures: 9, close })).toBe("account");
  expect((await readChannel(database)).closed).toBeCloseTo(300, -1);
});
