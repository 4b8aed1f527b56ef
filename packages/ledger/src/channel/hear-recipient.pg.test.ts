import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { recordEvidence } from "../deliver/record-evidence.ts";
import { proofOf, receive, take } from "../testing/act.ts";
import { waitsForLock } from "../testing/race.ts";
import { empty, newRow, type Row, readRow, reshape } from "../testing/rows.ts";
import { hearRecipients, type Word } from "./hear-recipient.ts";

// STOP and START, which a recipient answers to a text message: they come late, twice, and in any order.

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const number = "+43 660 (123)-45.67";
const key = "+436601234567";
const base = Date.now() - 3_600_000;
/** A word that was said so many minutes after the first. */
const word = (said: Word["word"], minute: number, more: Partial<Word> = {}): Word => ({
  ...{ channel: "sms", address: number, word: said, at: base + minute * 60_000 },
  ...more,
});
const hear = (...words: Word[]) => hearRecipients(database.ledger, words);
const suppressions = () => database.sql<{ address: string; cause: string; lifted_by: string | null }[]>`
  SELECT address, cause, lifted_by FROM owed.suppression ORDER BY id`;
/** Whether the number is out of use. */
const stopped = async () => (await suppressions()).some(({ lifted_by }) => lifted_by === null);

/** A text message to the number. */
async function text(columns: Partial<Record<keyof Row, string>> = {}): Promise<string> {
  const id = await newRow(database, "pending", { channel: "'sms'", ...columns });
  await moveTo(id, "+43 6601234567");
  return id;
}
const moveTo = (id: string, address: string) =>
  database.sql`UPDATE owed.subscriber SET address = ${address} WHERE id = (SELECT subscriber_id FROM owed.notification WHERE id = ${id})`;
const takeTexts = () => take(database, { shares: [{ channel: "sms", most: 9 }] });

describe("STOP", () => {
  test("takes the number out of use, however it is written, without a notification", async () => {
    expect(await hear(word("stop", 0))).toBe(1);
    expect(
      await database.sql`SELECT channel, address, cause, notification_id, suppressed_at, lifted_at FROM owed.suppression`,
    ).toEqual([
      {
        ...{ channel: "sms", address: key, cause: "opted_out", notification_id: null },
        ...{ suppressed_at: new Date(base), lifted_at: null },
      },
    ]);
  });

  test("cancels what is pending when it is leased, and what is queued when it is claimed", async () => {
    const [pending, queued, other, email] = [
      await text(),
      await text(),
      await text(),
      await newRow(database),
    ];
    await reshape(database, queued, "queued");
    await moveTo(other, "+43 6607654321");
    await moveTo(email, number);
    await hear(word("stop", 0));
    const [suppression] = await database.sql<{ id: string }[]>`SELECT id::text FROM owed.suppression`;
    const by = `suppression ${suppression?.id}`;
    expect(await takeTexts()).toMatchObject({ cancelled: 1, leased: [{ id: other }] });
    expect(await receive(database, queued)).toEqual({ verdict: "cancelled" });
    for (const id of [pending, queued])
      expect(await readRow(database, id)).toMatchObject({
        ...{ state: "cancelled", reason: "opted_out", cancelled_by: by, owed_at: null },
      });
    expect((await take(database)).leased, "by email").toMatchObject([{ id: email }]);
  });

  test("tells what comes later so at once", async () => {
    await hear(word("stop", 0));
    const shipment = "S-after-stop";
    await database.sql`SELECT owed.register_shipment(${shipment}, 'M-1', 'Shop', 'T-1')`;
    await database.sql`SELECT owed.subscribe(${shipment}, 'b', 'buyer', 'sms', ${number})`;
    await database.sql`SELECT owed.record_event('E-after-stop', ${shipment}, 'out_for_delivery', clock_timestamp())`;
    const [row] = await database.sql`
      SELECT n.state, n.reason, n.cancelled_by = 'suppression ' || x.id AS named FROM owed.notification n, owed.suppression x
      WHERE n.channel = 'sms'`;
    expect(row).toEqual({ state: "cancelled", reason: "opted_out", named: true });
  });

  test("of the future is heard as of now", async () => {
    await hear(word("stop", 9999));
    expect(
      await database.sql`SELECT suppressed_at <= clock_timestamp() AS now FROM owed.suppression`,
    ).toEqual([{ now: true }]);
    expect(await hear(word("start", 61, { at: Date.now() + 1000 }))).toBe(1);
  });
});

describe("START", () => {
  test("lets what comes later through, and leaves what was cancelled", async () => {
    const before = await text();
    await hear(word("stop", 0));
    await takeTexts();
    expect(await hear(word("start", 1))).toBe(1);
    expect(await database.sql`SELECT lifted_at, lifted_by, lifted_why FROM owed.suppression`).toEqual([
      {
        ...{ lifted_at: new Date(base + 60_000), lifted_by: "recipient" },
        lifted_why: "asked to be written to again",
      },
    ]);
    const after = await text();
    expect(await takeTexts()).toMatchObject({ cancelled: 0, leased: [{ id: after }] });
    expect((await readRow(database, before)).state).toBe("cancelled");
  });

  test.each<[string, Partial<Word>]>([
    ["another number", { address: "+43 6607654321" }],
    ["another channel", { channel: "webhook" }],
  ])("for %s lifts nothing", async (_, more) => {
    await hear(word("stop", 0));
    await hear(word("start", 1, more));
    expect(await stopped()).toBe(true);
    expect(await hear(word("start", 1))).toBe(1);
    expect(await hear(word("stop", 2, more)), "nor is it stopped by the word of the other").toBe(1);
    expect((await suppressions()).filter(({ lifted_by }) => lifted_by === null)).toMatchObject([
      { address: more.address === undefined ? key : "+436607654321" },
    ]);
  });

  test("said again changes nothing of what was lifted", async () => {
    for (const [minute, said] of ["stop", "start"].entries()) await hear(word(said as Word["word"], minute));
    expect(await hear(word("start", 2))).toBe(0);
    expect(await database.sql`SELECT lifted_at FROM owed.suppression ORDER BY id LIMIT 1`).toEqual([
      { lifted_at: new Date(base + 60_000) },
    ]);
  });

  test("does not mend a number that messages do not reach", async () => {
    const id = await text();
    await reshape(database, id, "sending");
    await database.sql`UPDATE owed.notification SET sent_to = ${key} WHERE id = ${id}`;
    await recordEvidence(database.ledger, [
      proofOf(id, { outcome: "bounced", detail: "bounced: gone", suppress: true }),
    ]);
    expect(await stopped()).toBe(true);
    await hear(word("start", 1));
    expect(await stopped()).toBe(true);
  });
});

const permutations = <T>(all: readonly T[]): T[][] =>
  all.length === 0
    ? [[]]
    : all.flatMap((one, place) =>
        permutations(all.filter((_, other) => other !== place)).map((rest) => [one, ...rest]),
      );

describe("what was said first does not undo what was said later", () => {
  test.each<[string, Word[], boolean]>([
    ["stop, start", [word("stop", 0), word("start", 1)], false],
    ["start, stop", [word("start", 0), word("stop", 1)], true],
    ["stop, start, stop", [word("stop", 0), word("start", 1), word("stop", 2)], true],
    ["stop, stop, start", [word("stop", 0), word("stop", 1), word("start", 2)], false],
    ["start, stop, start", [word("start", 0), word("stop", 1), word("start", 2)], false],
  ])("%s: in any order, one by one or in one batch, and repeated", async (_, words, out) => {
    for (const order of permutations(words)) {
      const about = order.map(({ word: said, at }) => `${said} ${(at - base) / 60_000}`).join(", ");
      await empty(database);
      for (const one of order) await hear(one);
      expect(await stopped(), about).toBe(out);
      for (const one of order) expect(await hear(one), `${about} again`).toBe(0);
      expect(await stopped(), about).toBe(out);
      await empty(database);
      await hear(...order, ...order);
      expect(await stopped(), `${about} at once`).toBe(out);
    }
  });

  /** The number bounced so many minutes after the first word. */
  async function bounced(minute: number): Promise<void> {
    const id = await newRow(database, "delivered", { channel: "'sms'" });
    await database.sql`
      INSERT INTO owed.suppression (channel, address, cause, notification_id, suppressed_at)
      VALUES ('sms', ${key}, 'bounced', ${id}, ${new Date(base + minute * 60_000).toISOString()})`;
  }

  test("a START from before a STOP, of a number that had bounced before both", async () => {
    await bounced(0);
    await hear(word("stop", 2));
    await hear(word("start", 1));
    expect(await stopped()).toBe(true);
  });

  test("a STOP counts whether the number bounced before it or after, and a START from after the STOP too", async () => {
    for (const minute of [0, 9]) {
      await empty(database);
      await bounced(minute);
      expect(await hear(word("stop", 2))).toBe(1);
      expect(await suppressions()).toEqual([{ address: key, cause: "opted_out", lifted_by: null }]);
      expect(await hear(word("start", 3))).toBe(1);
      expect(await stopped()).toBe(false);
    }
  });
});

test("a START from before, that waited for a later STOP's transaction, does not undo it", async () => {
  await hear(word("stop", 0));
  let start: Promise<number> = Promise.resolve(-1);
  await database.sql.begin(async (holder) => {
    await holder`SELECT owed.hear_recipient('sms', ${number}, true, ${new Date(base + 120_000)})`;
    start = hear(word("start", 1));
    await waitsForLock(database.sql);
  });
  expect(await start).toBe(0);
  expect(await stopped()).toBe(true);
});

test("START lifts no bounce, and said twice in one moment is kept once", async () => {
  const id = await newRow(database, "delivered", { channel: "'sms'" });
  await database.sql`
    INSERT INTO owed.suppression (channel, address, cause, notification_id, suppressed_at)
    VALUES ('sms', ${key}, 'bounced', ${id}, ${new Date(base)})`;
  await hear(word("start", 1));
  await hear(word("start", 1));
  expect(await suppressions()).toMatchObject([
    { cause: "bounced", lifted_by: null },
    { cause: "opted_out", lifted_by: "recipient" },
  ]);
});

test("of two words of one moment STOP counts, whichever comes first", async () => {
  await hear(word("stop", 0), word("start", 0));
  expect(await stopped()).toBe(true);
  await hear(word("start", 5));
  await hear(word("stop", 5));
  expect(await stopped()).toBe(true);
  await hear(word("start", 5));
  expect(await stopped()).toBe(true);
});
