import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { defaultDurations as durations } from "../durations.ts";
import { replay } from "../operate/replay.ts";
import { resolveAsSent } from "../operate/resolve-as-sent.ts";
import { accepted, claimRow, look, receive, recordOne, take } from "../testing/act.ts";
import { empty, everyShape, newRow, type Row, readRow, readTries, secondsUntil } from "../testing/rows.ts";
import { type Outcome, record } from "./record.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const act = { actor: "ann", why: "to see" };

type Left = { row: Partial<Record<keyof Row, unknown>>; owedIn: number | null; tries: string[] };
const outcomes: [string, Outcome, Left][] = [
  [
    "accepted (5)",
    accepted,
    {
      row: {
        state: "delivered",
        outcome: "accepted",
        evidence: "reply",
        provider: "ses",
        provider_message_id: "P-1",
        reason: null,
        attempts: 1,
        generation: 0,
        died_at: null,
      },
      owedIn: null,
      tries: [],
    },
  ],
  [
    "refused for good (7)",
    { kind: "refused", reason: "address: no such mailbox" },
    {
      row: {
        state: "dead",
        reason: "address: no such mailbox",
        died_at: expect.any(Date),
        stopped_at: expect.any(Date),
        attempts: 1,
      },
      owedIn: null,
      tries: ["refused"],
    },
  ],
  [
    "throttled (8)",
    { kind: "throttled", reason: "rate", wait: 45 },
    {
      row: { state: "pending", generation: 1, attempts: 0, reason: "rate" },
      owedIn: 45,
      tries: ["throttled"],
    },
  ],
  [
    "a transient error (10)",
    { kind: "transient", reason: "timeout" },
    {
      row: { state: "queued", generation: 0, attempts: 1, reason: "timeout", queued_at: expect.any(Date) },
      owedIn: durations.lostAfter,
      tries: ["failed"],
    },
  ],
  [
    "a transient error on the last receive (11)",
    { kind: "exhausted", reason: "timeout" },
    {
      row: {
        state: "dead",
        reason: "timeout",
        died_at: expect.any(Date),
        stopped_at: expect.any(Date),
        attempts: 1,
      },
      owedIn: null,
      tries: ["exhausted"],
    },
  ],
  [
    "no answer after the request was written (12)",
    { kind: "unknown", reason: "no_answer" },
    {
      row: { state: "unknown", generation: 0, attempts: 1, reason: "no_answer", stopped_at: null },
      owedIn: durations.grace,
      tries: ["unknown"],
    },
  ],
  [
    "not called after all (22)",
    { kind: "not_called" },
    { row: { state: "pending", generation: 1, attempts: 0, reason: null }, owedIn: 0, tries: [] },
  ],
];

describe.each(outcomes)("%s", (_, outcome, left) => {
  test("leaves the row as the protocol says", async () => {
    const id = await newRow(database, "leased");
    const { token } = await claimRow(database, id);
    expect(await recordOne(database, id, token, outcome)).toBe(true);
    expect(await readRow(database, id)).toMatchObject({
      lease_token: token,
      rescues: 0,
      resends: 0,
      ...left.row,
    });
    const owedIn = await secondsUntil(database, id, "owed_at");
    if (left.owedIn === null) expect(owedIn).toBeNull();
    else expect(owedIn).toBeCloseTo(left.owedIn, -1);
    expect(await readTries(database, id)).toEqual(left.tries);
  });

  test("run again after a lost answer says the same and changes nothing", async () => {
    const id = await newRow(database, "queued");
    const { token } = await claimRow(database, id);
    await recordOne(database, id, token, outcome);
    const [row, tries] = [await readRow(database, id), await readTries(database, id)];
    expect(await recordOne(database, id, token, outcome)).toBe(true);
    expect([await readRow(database, id), await readTries(database, id)]).toEqual([row, tries]);
  });

  test("under an older token changes nothing, and the worker is told", async () => {
    const id = await newRow(database, "queued");
    const { token } = await claimRow(database, id);
    // The worker froze; the row became unknown, was resent, and another worker has it now.
    await passTime(database.sql, durations.lostAfter);
    await look(database);
    await passTime(database.sql, durations.grace);
    await look(database);
    await take(database);
    await claimRow(database, id, { generation: 1 });
    const [row, tries] = [await readRow(database, id), await readTries(database, id)];
    expect(await recordOne(database, id, token, outcome)).toBe(false);
    expect([await readRow(database, id), await readTries(database, id)]).toEqual([row, tries]);
  });

  test("after its send lease, when nobody has looked yet, still counts", async () => {
    const id = await newRow(database, "queued");
    const { token } = await claimRow(database, id);
    await passTime(database.sql, durations.sendLease + 30);
    expect(await recordOne(database, id, token, outcome)).toBe(true);
    expect(await readRow(database, id)).toMatchObject({ state: left.row.state });
  });

  test.each(everyShape.filter((shape) => shape !== "sending"))(
    "changes nothing in a row that is %s",
    async (shape) => {
      const id = await newRow(database, shape);
      const { lease_token: token } = await readRow(database, id);
      const [row, tries] = [await readRow(database, id), await readTries(database, id)];
      await recordOne(database, id, token, outcome);
      expect([await readRow(database, id), await readTries(database, id)]).toEqual([row, tries]);
    },
  );
});

test("a batch of ten is recorded in one statement, each outcome for itself, and only the fenced are told", async () => {
  const rows = [];
  for (const [name, outcome] of outcomes) {
    const id = await newRow(database, "queued");
    rows.push({ id, outcome, name, token: (await claimRow(database, id)).token });
  }
  const stranger = { id: "00000000-0000-7000-8000-000000000001", token: 1, outcome: accepted };
  const late = { id: await newRow(database, "sending"), token: 1, outcome: accepted };
  const fenced = await record(database.ledger, durations, [stranger, ...rows.toReversed(), late]);
  expect(fenced).toEqual(new Set([stranger.id, late.id]));
  const states = await Promise.all(rows.map(async ({ id }) => (await readRow(database, id)).state));
  expect(states).toEqual(outcomes.map(([, , { row }]) => row.state));
});

test("of nothing asks nothing", async () => {
  expect(await record(database.ledger, durations, [])).toEqual(new Set());
});

test("a row comes back from transient errors by the same message, and keeps the time it was queued", async () => {
  const id = await newRow(database, "queued", { queued_at: "now() - interval '90 s'" });
  for (const attempts of [1, 2, 3]) {
    const { token } = await claimRow(database, id, { messageId: "M-same" });
    await recordOne(database, id, token, { kind: "transient", reason: "timeout" });
    expect(await readRow(database, id)).toMatchObject({
      state: "queued",
      attempts,
      lease_token: 1 + attempts,
    });
    expect(await secondsUntil(database, id, "queued_at")).toBeLessThan(-80);
  }
});

test("after a throttled try the old message is stale, and the row comes by the next generation", async () => {
  const id = await newRow(database, "queued");
  const { token } = await claimRow(database, id);
  await recordOne(database, id, token, { kind: "throttled", reason: "rate", wait: 0 });
  expect(await receive(database, id)).toEqual({ verdict: "stale" });
  expect((await take(database)).leased).toMatchObject([{ id, generation: 1 }]);
});

describe("an acceptance that comes when a person has decided meanwhile is told to be fenced, so that it is brought as evidence", () => {
  test("resolved as sent", async () => {
    const id = await newRow(database, "sending");
    await database.sql`UPDATE owed.notification SET state = 'unknown' WHERE id = ${id}`;
    await resolveAsSent(database.ledger, id, act);
    expect(await recordOne(database, id, 2, accepted)).toBe(false);
  });

  test("replayed", async () => {
    const id = await newRow(database, "unknown");
    await replay(database.ledger, [id], act, "replayed");
    expect(await recordOne(database, id, 2, accepted)).toBe(false);
  });
});
