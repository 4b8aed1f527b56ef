import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { happen, registerShipment } from "../../../../tests/support/shipment.ts";
import { dueAt, showsAt } from "../testing/clock-time.ts";
import { empty, rewriteRules } from "../testing/rows.ts";

// "At nine in the morning": on the clock where the recipient is, whatever it does that night.

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

type Case = { occurred: string; delay: number; at: string | null; zone: string };

/** When each would be due, in the order given. */
async function due(cases: readonly Case[]): Promise<string[]> {
  const rows = await database.sql<{ at: Date }[]>`
    SELECT owed.due_at(given.occurred, given.delay, given.at, given.zone) AS at
    FROM unnest(${cases.map(({ occurred }) => occurred)}::timestamptz[], ${cases.map(({ delay }) => delay)}::int[],
      ${cases.map(({ at }) => at)}::time[], ${cases.map(({ zone }) => zone)}::text[])
      WITH ORDINALITY AS given (occurred, delay, at, zone, place) ORDER BY place`;
  return rows.map(({ at }) => at.toISOString().replace(":00.000Z", "Z"));
}

describe.each<[zone: string, [what: string, at: string, occurred: string, due: string][]]>([
  [
    "Europe/Vienna",
    [
      ["the next morning", "09:00", "2026-07-01T10:00Z", "2026-07-02T07:00Z"],
      ["the same morning", "09:00", "2026-07-01T06:59Z", "2026-07-01T07:00Z"],
      ["at that very moment", "09:00", "2026-07-01T07:00Z", "2026-07-01T07:00Z"],
      ["a minute later it is the next day", "09:00", "2026-07-01T07:01Z", "2026-07-02T07:00Z"],
      ["midnight belongs to the day that begins", "00:00", "2026-07-01T21:30Z", "2026-07-01T22:00Z"],
      ["over the night when the clocks go forward", "09:00", "2026-03-28T09:00Z", "2026-03-29T07:00Z"],
      ["over the night when they go back", "09:00", "2026-10-24T08:00Z", "2026-10-25T08:00Z"],
      ["a time that is skipped is that much later", "02:30", "2026-03-28T23:00Z", "2026-03-29T01:30Z"],
      ["also for what happens after the skip", "02:30", "2026-03-29T01:10Z", "2026-03-29T01:30Z"],
      ["and when that has passed, on the next day", "02:30", "2026-03-29T01:31Z", "2026-03-30T00:30Z"],
      ["of a time that is shown twice it is the second", "02:30", "2026-10-24T23:00Z", "2026-10-25T01:30Z"],
      ["also between the two", "02:30", "2026-10-25T00:45Z", "2026-10-25T01:30Z"],
      ["and after both the next day's", "02:30", "2026-10-25T01:31Z", "2026-10-26T01:30Z"],
    ],
  ],
  [
    "America/New_York",
    [
      ["over the night when the clocks go forward", "09:00", "2026-03-07T15:00Z", "2026-03-08T13:00Z"],
      ["over the night when they go back", "09:00", "2026-10-31T14:00Z", "2026-11-01T14:00Z"],
      ["skipped", "02:30", "2026-03-08T05:00Z", "2026-03-08T07:30Z"],
      ["shown twice", "01:30", "2026-11-01T04:00Z", "2026-11-01T06:30Z"],
      ["between the two", "01:30", "2026-11-01T05:45Z", "2026-11-01T06:30Z"],
    ],
  ],
  ["Asia/Kolkata", [["half an hour off", "09:00", "2026-01-01T04:00Z", "2026-01-02T03:30Z"]]],
  [
    "Australia/Lord_Howe",
    [
      ["half an hour forward", "09:00", "2026-10-03T00:00Z", "2026-10-03T22:00Z"],
      ["half an hour back", "09:00", "2026-04-04T00:00Z", "2026-04-04T22:30Z"],
      ["skipped", "02:15", "2026-10-03T12:00Z", "2026-10-03T15:45Z"],
      ["shown twice", "01:45", "2026-04-04T12:00Z", "2026-04-04T15:15Z"],
    ],
  ],
  ["UTC", [["no change ever", "09:00", "2026-03-29T09:01Z", "2026-03-30T09:00Z"]]],
  [
    "Pacific/Apia",
    [
      ["a day ahead", "09:00", "2026-01-01T00:00Z", "2026-01-01T20:00Z"],
      ["over the day that was left out", "09:00", "2011-12-29T20:00Z", "2011-12-30T19:00Z"],
    ],
  ],
  ["Antarctica/Troll", [["two hours back", "02:30", "2026-10-24T00:31Z", "2026-10-25T02:30Z"]]],
])("%s", (zone, cases) => {
  test.each(cases)("%s: %s", async (_, at, occurred, expected) => {
    expect(await due([{ occurred, delay: 0, at, zone }])).toEqual([expected]);
  });
});

test("the delay goes first, and without a time of day is all there is", async () => {
  const [occurred, zone] = ["2026-07-01T06:00Z", "Europe/Vienna"];
  expect(
    await due([
      { occurred, delay: 3600, at: "09:00", zone },
      { occurred, delay: 3660, at: "09:00", zone },
      { occurred, delay: 3660, at: null, zone },
      { occurred, delay: 0, at: null, zone },
    ]),
  ).toEqual(["2026-07-01T07:00Z", "2026-07-02T07:00Z", "2026-07-01T07:01Z", "2026-07-01T06:00Z"]);
});

const zones = [
  ...["Europe/Vienna", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC", "Pacific/Apia"],
  ...["Antarctica/Troll", "America/Santiago", "America/Havana", "America/St_Johns", "Pacific/Chatham"],
];
const hour = 3_600_000;
/** Nights when the clocks change somewhere. */
const nights = [
  "2026-03-08",
  "2026-03-29",
  "2026-04-05",
  "2026-09-27",
  "2026-10-04",
  "2026-10-25",
  "2026-11-01",
];
const nearby = fc
  .tuple(fc.constantFrom(...nights), fc.integer({ min: -60 * 60, max: 60 * 60 }))
  .map(([night, minutes]) => Date.parse(night) + minutes * 60_000);
const anywhen = fc
  .integer({ min: 0, max: 2 * 366 * 24 * 60 })
  .map((minutes) => Date.parse("2025-01-01") + minutes * 60_000);
const anyCase = fc.record({
  occurred: fc.oneof(nearby, anywhen).map((at) => new Date(at).toISOString()),
  delay: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 400_000 })),
  at: fc
    .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
    .map((parts) => parts.map((part) => String(part).padStart(2, "0")).join(":")),
  zone: fc.constantFrom(...zones),
});

test("as JavaScript's own calendar says: never before the delay, and a day after it at most, but for the clocks", async () => {
  // One statement for all of them, and so no shrinking: each is small as it is.
  const cases = fc.sample(anyCase, 1500);
  const found = await due(cases);
  const wrong = cases.flatMap((given, place) => {
    const at = Date.parse(found[place] ?? "");
    const since = Date.parse(given.occurred) + given.delay * 1000;
    const [date = "", shown] = showsAt(at, given.zone).split(" ");
    const right =
      at === dueAt(since, given.at, given.zone) &&
      at >= since &&
      at - since < (given.zone === "Antarctica/Troll" ? 26 : 25) * hour &&
      // Of what the clocks skip nothing can be shown.
      (shown === given.at || showsAt(at - 2 * hour, given.zone) < `${date} ${given.at}`);
    return right ? [] : [{ ...given, found: found[place], shown }];
  });
  expect(wrong).toEqual([]);
});

test("the zone is the recipient's, else the merchant's, else UTC", async () => {
  await rewriteRules(database, "at_time = '09:00'", "status = 'out_for_delivery' AND channel = 'email'");
  const shipment = await registerShipment(database);
  const set = (recipient: string | null, merchant: string | null) => database.sql`
    SELECT owed.describe_merchant('M-1', NULL, ${merchant}),
      owed.subscribe(${shipment}, 'buyer-1', 'buyer', 'email', 'a@example.com', 'Ann', 'en', ${recipient})`;
  const clocks = [];
  for (const [recipient, merchant] of [
    ["Asia/Kolkata", "America/New_York"],
    [null, "America/New_York"],
    ["Asia/Kolkata", null],
    [null, null],
  ] as const) {
    await set(recipient, merchant);
    const event = await happen(database, shipment, "out_for_delivery");
    const [row] = await database.sql<{ at: string }[]>`
      SELECT to_char(n.due_at AT TIME ZONE 'UTC', 'HH24:MI') AS at FROM owed.notification n
        JOIN owed.event e ON e.key = n.event_key WHERE e.id = ${event}`;
    clocks.push(row?.at);
  }
  const newYork = new Set(["13:00", "14:00"]);
  expect(clocks).toEqual(["03:30", expect.toSatisfy((at) => newYork.has(at)), "03:30", "09:00"]);
  await database.sql`SELECT owed.describe_merchant('M-1', NULL, NULL)`;
  await rewriteRules(database, "at_time = NULL");
});

test.each<[string | null, boolean]>([
  [null, true],
  ["UTC", true],
  ["Europe/Vienna", true],
  ["America/Argentina/Ushuaia", true],
  ["Etc/GMT+5", true],
  ["", false],
  ["CET", false],
  ["+02", false],
  ["EST5EDT", false],
  ["Europe/Atlantis", false],
  ["Europe/Vienna ", false],
  ["A/B/C/D", false],
])("a time zone has a name of the IANA database: %j is one: %s", async (name, is) => {
  const [row] = await database.sql`SELECT coalesce(owed.is_time_zone(${name}), true) AS is`;
  expect(row).toEqual({ is });
});
