import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { Ledger } from "../connect/ledger.ts";
import type { Outcome } from "../states.ts";
import { accepted, claimRow, look, nothing, recordOne, take } from "../testing/act.ts";
import { waitsForLock } from "../testing/race.ts";
import { empty, everyShape, newRow, readRow, readTries, type Shape } from "../testing/rows.ts";
import { type Proof, recordEvidence } from "./record-evidence.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const proof = (id: string, more: Partial<Proof> = {}): Proof => ({
  id,
  at: "2026-02-03T04:05:06.789Z",
  provider: "ses",
  providerMessageId: "P-1",
  outcome: "accepted",
  detail: null,
  suppress: false,
  evidence: "feedback",
  queuedAt: null,
  ...more,
});
const weigh = async (...proofs: Proof[]) => recordEvidence(database.ledger, proofs);
const ended: Shape[] = ["delivered", "cancelled"];

describe.each(everyShape.filter((shape) => !ended.includes(shape)))(
  "in a row that is %s, the provider's word is proof (9)",
  (shape) => {
    test.each<Exclude<Outcome, "none">>(["accepted", "arrived", "bounced", "complained"])(
      "%s",
      async (outcome) => {
        const id = await newRow(database, shape);
        const before = await readRow(database, id);
        expect(await weigh(proof(id, { outcome }))).toEqual([
          { id, result: "proven", duplicate: false, suppressed: false },
        ]);
        expect(await readRow(database, id)).toMatchObject({
          state: "delivered",
          delivered_at: new Date("2026-02-03T04:05:06.789Z"),
          evidence: "feedback",
          outcome,
          provider: "ses",
          provider_message_id: "P-1",
          lease_token: before.lease_token + 1,
          generation: before.generation,
          attempts: before.attempts,
          owed_at: null,
          died_at: null,
          stopped_at: null,
          reason: null,
        });
        expect(await readTries(database, id)).toEqual([]);
        expect(await take(database)).toEqual(nothing);
        expect((await look(database)).taken).toBe(0);
      },
    );
  },
);

test("a worker's late reply is the same proof, at the time it is brought (6)", async () => {
  const id = await newRow(database, "unknown");
  await weigh(proof(id, { at: null, evidence: "reply" }));
  const [row] =
    await database.sql`SELECT evidence, delivered_at > now() - interval '1 minute' AS just_now FROM owed.notification`;
  expect(row).toEqual({ evidence: "reply", just_now: true });
});

test("evidence fences the worker that is still sending: its failure changes nothing", async () => {
  const id = await newRow(database, "queued");
  const { token } = await claimRow(database, id);
  await weigh(proof(id));
  const row = await readRow(database, id);
  expect(await recordOne(database, id, token, { kind: "refused", reason: "too late" })).toBe(false);
  expect(await recordOne(database, id, token, accepted)).toBe(false);
  expect(await readRow(database, id)).toEqual(row);
});

describe("in a delivered row only the outcome moves, and only upwards", () => {
  const order: Outcome[] = ["none", "accepted", "arrived", "bounced", "complained"];
  const pairs = order.flatMap((before) => order.slice(1).map((told) => [before, told] as const));
  test.each(pairs)("%s, then %s", async (before, told) => {
    const id = await newRow(database, "delivered", { outcome: `'${before}'` });
    const row = await readRow(database, id);
    expect(await weigh(proof(id, { outcome: told as Proof["outcome"] }))).toEqual([
      { id, result: "known", duplicate: false, suppressed: false },
    ]);
    const outcome = order.indexOf(told) > order.indexOf(before) ? told : before;
    expect(await readRow(database, id)).toEqual({ ...row, outcome });
  });

  test("and a missing provider message id is filled in", async () => {
    const id = await newRow(database, "delivered", {
      evidence: "'operator'",
      provider: "NULL",
      provider_message_id: "NULL",
    });
    const row = await readRow(database, id);
    expect(await weigh(proof(id))).toEqual([{ id, result: "known", duplicate: false, suppressed: false }]);
    expect(await readRow(database, id)).toEqual({ ...row, provider: "ses", provider_message_id: "P-1" });
  });
});

test("in a cancelled row only the outcome moves: it was sent although nobody wanted it any more", async () => {
  const id = await newRow(database, "cancelled");
  const row = await readRow(database, id);
  for (const outcome of ["accepted", "bounced", "arrived"] as const)
    expect(await weigh(proof(id, { outcome }))).toEqual([
      { id, result: "known", duplicate: false, suppressed: false },
    ]);
  expect(await readRow(database, id)).toEqual({
    ...row,
    outcome: "bounced",
    provider: "ses",
    provider_message_id: "P-1",
  });
});

test("of a row that is not there is told", async () => {
  const id = randomUUID();
  expect(await weigh(proof(id))).toEqual([{ id, result: "gone", duplicate: false, suppressed: false }]);
});

test("a batch is weighed in one statement, each proof for itself", async () => {
  const [sending, delivered, gone] = [
    await newRow(database, "sending"),
    await newRow(database, "delivered"),
    randomUUID(),
  ];
  const weighed = await weigh(proof(sending), proof(gone), proof(delivered, { outcome: "bounced" }));
  expect(new Map(weighed.map(({ id, result }) => [id, result]))).toEqual(
    new Map([
      [sending, "proven"],
      [gone, "gone"],
      [delivered, "known"],
    ]),
  );
  expect(await weigh()).toEqual([]);
});

describe("a duplicate: another message of the provider for a row that it has accepted", () => {
  const second = { providerMessageId: "P-2" };

  test("is told each time and counted once", async () => {
    const id = await newRow(database, "delivered");
    for (const outcome of ["accepted", "arrived", "arrived"] as const)
      expect(await weigh(proof(id, { ...second, outcome }))).toEqual([
        { id, result: "known", duplicate: true, suppressed: false },
      ]);
    expect(await database.sql`SELECT kind, provider_message_id FROM owed.attempt`).toEqual([
      { kind: "duplicate", provider_message_id: "P-2" },
    ]);
    expect(await readRow(database, id)).toMatchObject({ provider_message_id: "P-1", outcome: "arrived" });
  });

  test("is one in a cancelled row too: it was sent twice although nobody wanted it any more", async () => {
    const id = await newRow(database, "cancelled");
    expect(await weigh(proof(id))).toMatchObject([{ result: "known", duplicate: false }]);
    expect(await weigh(proof(id, second))).toMatchObject([{ result: "known", duplicate: true }]);
    expect(await readTries(database, id)).toEqual(["duplicate"]);
  });

  test("and a third is counted as well", async () => {
    const id = await newRow(database, "delivered");
    await weigh(proof(id, second));
    await weigh(proof(id, { providerMessageId: "P-3" }));
    expect(await readTries(database, id)).toEqual(["duplicate", "duplicate"]);
  });

  test("is counted once when its events come at the same time", async () => {
    const id = await newRow(database, "delivered");
    const ledgers = [1, 2, 3].map(() => new Ledger({ ...database.options, connections: 1 }));
    let weighed: Promise<unknown> | undefined;
    await database.sql.begin(async (holder) => {
      await holder`SELECT FROM owed.notification WHERE id = ${id} FOR UPDATE`;
      weighed = Promise.all(ledgers.map((ledger) => recordEvidence(ledger, [proof(id, second)])));
      await waitsForLock(database.sql, 3);
    });
    await weighed;
    await Promise.all(ledgers.map((ledger) => ledger.close()));
    expect(await readTries(database, id)).toEqual(["duplicate"]);
  });

  test("is none when the row was delivered on a person's word alone", async () => {
    const id = await newRow(database, "delivered", { evidence: "'operator'", provider_message_id: "NULL" });
    expect(await weigh(proof(id, second))).toMatchObject([{ duplicate: false }]);
    expect(await weigh(proof(id))).toMatchObject([{ duplicate: true }]);
  });
});

test("a provider's time that is yet to come is no time of delivery, and outlives no lift", async () => {
  const { sql } = database;
  const id = await newRow(database, "sending", { sent_to: "'ann@example.com'" });
  await weigh(proof(id, { at: "9999-12-31T23:59:59.9999999-15:59" }));
  const [row] =
    await sql`SELECT delivered_at <= clock_timestamp() AS past FROM owed.notification WHERE id = ${id}`;
  expect(row).toEqual({ past: true });
  await weigh(proof(id, { outcome: "bounced", suppress: true }));
  await sql`UPDATE owed.suppression SET lifted_at = now() + interval '1 second', lifted_by = 'ann', lifted_why = 'mended'`;
  const late = { outcome: "complained", suppress: true, at: "9999-12-31T00:00:00Z" } as const;
  expect(await weigh(proof(id, late))).toMatchObject([{ suppressed: false }]);
});
