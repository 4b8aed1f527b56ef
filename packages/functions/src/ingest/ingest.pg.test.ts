import { listRefusedEvents } from "@owed/ledger";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { registerShipment } from "../../../../tests/support/shipment.ts";
import { acknowledged } from "../testing/disposals.ts";
import { bodyOf, detailOf, envelope } from "../testing/events.ts";
import { nothing, readEvents, readKept, take } from "../testing/ingestions.ts";
import { type RecordOptions, recordOf } from "../testing/records.ts";
import { empty } from "../testing/rows.ts";
import { parseEvent } from "./event.ts";

let database: TestDatabase;
let shipment: string;
beforeAll(async () => {
  database = await createDatabase();
  shipment = await registerShipment(database, ["buyer", "agent"]);
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const about = (more: Record<string, unknown> = {}, options: RecordOptions = {}) =>
  recordOf(bodyOf({ shipment_id: shipment, ...more }), options);

test("an event is recorded with its fan-out and acknowledged, its time to the microsecond", async () => {
  const { counts, disposals, onError } = await take(database.ledger, [
    about({ id: "E-1", occurred_at: "2026-03-29T09:30:00.123456+05:45" }),
  ]);
  expect(counts).toEqual({ ...nothing, recorded: 1, notifications: 4 });
  expect(disposals).toEqual([acknowledged]);
  expect(onError).not.toHaveBeenCalled();
  expect(await readEvents(database)).toEqual([
    { id: "E-1", status: "customs_hold", at: "2026-03-29T03:45:00.123456" },
  ]);
});

test("what the parser lets through as a time, PostgreSQL takes as the same", async () => {
  const time = fc
    .tuple(
      fc
        .date({ min: new Date("1970-01-01"), max: new Date("9999-12-31"), noInvalidDate: true })
        .map((date) => date.toISOString().slice(0, 19)),
      fc.stringMatching(/^(\.[0-9]{1,9})?$/),
      fc.stringMatching(/^([Zz]|[+-](0[0-9]|1[0-9]|2[0-3]):[0-5][0-9])$/),
    )
    .map((parts) => parts.join(""));
  const times = fc.sample(time, 300).filter((at) => "occurredAt" in parseEvent(bodyOf({ occurred_at: at })));
  expect(times.length).toBeGreaterThan(100);
  const read = await database.sql<{ at: Date }[]>`
    SELECT at::timestamptz AS at FROM unnest(${database.sql.array(times)}::text[]) AS at`;
  const second = (at: Date) => Math.floor(at.getTime() / 1000);
  for (const [place, { at }] of read.entries()) {
    // Of nine digits PostgreSQL keeps six, rounded: the next second at most.
    const whole = new Date((times[place] ?? "").replace(/\.\d+/, ""));
    expect(second(at) - second(whole), times[place]).toBeOneOf([0, 1]);
  }
});

describe("an event that can't be recorded as it is: refused with the field and the reason, kept, acknowledged", () => {
  test.each([
    ["malformed JSON", "{", "body", "must be JSON"],
    ["no body", "", "body", "must be JSON"],
    ["NUL", "\0", "body", "must be JSON"],
    ["a lone surrogate", '"\ud800"', "body", "must be an object"],
    [
      "another event",
      JSON.stringify(envelope({}, { "detail-type": "x" })),
      "detail-type",
      "must be shipment.status_changed",
    ],
    ["an escaped NUL", bodyOf({ id: "E\u0000" }), "id", "must be 1 to 128 characters of A-Z a-z 0-9 . _ : -"],
    ["an unknown status", bodyOf({ status: "teleported" }), "status", "is not a known status"],
    [
      "no offset",
      bodyOf({ occurred_at: "2026-01-01T10:00:00" }),
      "occurred_at",
      expect.stringContaining("with its offset"),
    ],
    [
      "the year 9999",
      bodyOf({ occurred_at: "9999-12-31T23:59:59Z" }),
      "occurred_at",
      "is more than five minutes in the future",
    ],
  ])("%s", async (_, body, field, reason) => {
    const { counts, disposals } = await take(database.ledger, [recordOf(body)]);
    expect({ counts, disposals }).toEqual({ counts: { ...nothing, refused: 1 }, disposals: [acknowledged] });
    expect(await readKept(database)).toEqual([{ field, reason }]);
    expect(await readEvents(database)).toEqual([]);
  });

  test("just within five minutes of the future it is taken, beyond it is not", async () => {
    const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
    const { counts } = await take(database.ledger, [
      about({ occurred_at: inSeconds(240) }),
      about({ occurred_at: inSeconds(360) }),
    ]);
    expect(counts).toMatchObject({ recorded: 1, refused: 1 });
  });

  test("of 1 MB: 64 KiB are kept, and how large it was", async () => {
    const body = bodyOf({ note: "🚚".repeat(262_144) });
    expect((await take(database.ledger, [recordOf(body)])).disposals).toEqual([acknowledged]);
    const [refused] = await listRefusedEvents(database.ledger, 1);
    expect(refused).toMatchObject({ field: "body", bytes: Buffer.byteLength(body) });
    expect(refused?.body).toEqual(Buffer.from(body).subarray(0, 65_536));
  });

  test("the same message again is kept once", async () => {
    const record = recordOf("{");
    await take(database.ledger, [record]);
    expect((await take(database.ledger, [record])).disposals).toEqual([acknowledged]);
    expect(await readKept(database)).toHaveLength(1);
  });
});

describe("the same event", () => {
  test("twice, and ten times in one batch: recorded once, all acknowledged", async () => {
    const body = bodyOf({ shipment_id: shipment });
    const { counts, disposals } = await take(
      database.ledger,
      Array.from({ length: 10 }, () => recordOf(body)),
    );
    expect(counts).toEqual({ ...nothing, recorded: 1, repeated: 9, notifications: 4 });
    expect(disposals).toEqual(Array(10).fill(acknowledged));
    expect((await take(database.ledger, [recordOf(body)])).counts).toEqual({ ...nothing, repeated: 1 });
  });

  test("in ten batches at once: recorded once", async () => {
    const body = bodyOf({ shipment_id: shipment });
    const results = await Promise.all(
      Array.from({ length: 10 }, () => take(database.ledger, [recordOf(body), recordOf(body)])),
    );
    const sum = (name: keyof typeof nothing) =>
      results.reduce((total, { counts }) => total + counts[name], 0);
    expect([sum("recorded"), sum("repeated"), sum("notifications")]).toEqual([1, 19, 4]);
    expect(await readEvents(database)).toHaveLength(1);
  });

  test("its id with other content: refused and kept, the first one stays", async () => {
    await take(database.ledger, [about({ id: "E-1", occurred_at: "2026-01-01T10:00:00Z" })]);
    const { counts, disposals } = await take(database.ledger, [
      about({ id: "E-1", status: "returned", occurred_at: "2026-01-01T10:00:00Z" }),
      about({ id: "E-1", occurred_at: "2026-01-01T10:00:01Z" }),
      about({ id: "E-1", occurred_at: "2026-01-01T12:00:00+02:00" }),
    ]);
    expect(counts).toEqual({ ...nothing, refused: 2, repeated: 1 });
    expect(disposals).toEqual(Array(3).fill(acknowledged));
    expect(await readKept(database)).toEqual(
      Array(2).fill({ field: "id", reason: "is already taken by an event with other content" }),
    );
    expect(await readEvents(database)).toEqual([
      { id: "E-1", status: "customs_hold", at: "2026-01-01T10:00:00.000000" },
    ]);
  });
});

test("a batch of ten with one bad: nine recorded, the bad one kept with its body", async () => {
  const bad = JSON.stringify(
    envelope(detailOf({ shipment_id: shipment, occurred_at: "2026-02-30T10:00:00Z" })),
  );
  const batch = Array.from({ length: 10 }, (_, place) => (place === 4 ? recordOf(bad) : about()));
  const { counts, disposals } = await take(database.ledger, batch);
  expect(counts).toMatchObject({ recorded: 9, refused: 1, postponed: 0 });
  expect(disposals).toEqual(Array(10).fill(acknowledged));
  const refused = await listRefusedEvents(database.ledger, 10);
  expect(refused).toMatchObject([
    {
      field: "occurred_at",
      reason: expect.stringContaining("must be a time that exists"),
      bytes: bad.length,
    },
  ]);
  expect(refused[0]?.body.toString()).toBe(bad);
});
