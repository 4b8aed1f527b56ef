import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { recordEvidence } from "../deliver/record-evidence.ts";
import { defaultDurations as durations } from "../durations.ts";
import { proofOf } from "../testing/act.ts";
import { empty, newRow } from "../testing/rows.ts";
import { abandonSweep } from "./abandon-sweep.ts";
import { beginSweep } from "./begin-sweep.ts";
import { finishSweep } from "./finish-sweep.ts";

// Resends wait until the provider's events that were on their way have come in.

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const counts = { leased: 0, published: 0, failed: 0, cancelled: 0, rescued: 0, unknown: 0, resent: 0 };
/** One sweep, after so many seconds; the sweeps follow one another meanwhile. Returns whether all was settled. */
async function beat(after = 0, how: "finishes" | "fails" | "is killed" = "finishes"): Promise<boolean> {
  await passTime(database.sql, after);
  const beginning = await beginSweep(database.ledger, durations);
  if (!beginning.taken) throw new Error(beginning.why);
  if (how === "finishes") await finishSweep(database.ledger, durations, beginning.run, counts, null);
  if (how === "fails") await abandonSweep(database.ledger, beginning.run);
  return beginning.settled;
}
/** No sweep ends for so many seconds. */
async function gap(seconds: number): Promise<void> {
  await passTime(database.sql, seconds);
  await database.sql`UPDATE owed.heartbeat SET beat_at = beat_at - make_interval(secs => ${seconds})`;
}

describe("a gap between sweeps", () => {
  test("unsettles, and it is settled again when sweeps have followed one another for long enough", async () => {
    expect(await beat()).toBe(true);
    await gap(durations.settle + 5);
    expect(await beat(), "the first after the gap").toBe(false);
    expect(await beat(durations.settle - 10)).toBe(false);
    expect(await beat(10)).toBe(true);
  });

  test("that is shorter than that is none", async () => {
    await beat();
    await gap(durations.settle - 10);
    expect(await beat()).toBe(true);
  });

  test.each(["fails", "is killed"] as const)("ends with no sweep that %s", async (how) => {
    await beat();
    await gap(100);
    await beat(0, how);
    await gap(100);
    expect(await beat()).toBe(false);
  });

  test("during a settling begins it anew", async () => {
    await beat();
    await gap(durations.settle + 5);
    await beat();
    await passTime(database.sql, durations.settle - 10);
    await gap(durations.settle + 5);
    expect(await beat()).toBe(false);
  });

  test("there is one before the first sweep of all", async () => {
    await database.sql`UPDATE owed.heartbeat SET beat_at = NULL, beating_since = now()`;
    expect(await beat()).toBe(false);
    expect(await beat(durations.settle)).toBe(true);
  });
});

describe("evidence that came late", () => {
  test.each(["email", "sms"])(
    "unsettles, on whatever channel, until long enough after the last of it: %s",
    async (channel) => {
      const late = async () => {
        const id = await newRow(database, "delivered", { channel: `'${channel}'` });
        await recordEvidence(database.ledger, [proofOf(id, { queuedAt: Date.now() - 120_000 })]);
      };
      await late();
      expect(await beat()).toBe(false);
      await passTime(database.sql, durations.settle - 10);
      await late();
      expect(await beat(20)).toBe(false);
      expect(await beat(durations.settle - 20)).toBe(true);
    },
  );
});
