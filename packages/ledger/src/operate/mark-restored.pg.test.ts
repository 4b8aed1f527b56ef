import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { defaultDurations as durations } from "../durations.ts";
import { beginSweep } from "../sweep/begin-sweep.ts";
import { accepted, look, receive, recordOne, take } from "../testing/act.ts";
import { setChannel } from "../testing/channel.ts";
import { empty, everyShape, newRow, readRow, readTries, secondsUntil, stateOf } from "../testing/rows.ts";
import { markRestored } from "./mark-restored.ts";
import { replay } from "./replay.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const restore = () => markRestored(database.ledger, durations, { actor: "ann", why: "the disk died" });

test.each(everyShape)("what was %s at the backup", async (shape) => {
  const id = await newRow(database, shape);
  const before = await readRow(database, id);
  const doubtful = ["pending", "leased", "queued", "sending"].includes(stateOf(shape));
  expect(await restore()).toBe(doubtful ? 1 : 0);
  if (!doubtful) {
    expect(await readRow(database, id)).toEqual(before);
    return;
  }
  const { state, generation, attempts, reason } = await readRow(database, id);
  expect({ state, generation, attempts }).toEqual({
    state: "unknown",
    generation: before.generation,
    attempts: before.attempts,
  });
  expect(reason).toBe("restored: the ledger was put back from a backup");
  expect(await secondsUntil(database, id, "owed_at")).toBeCloseTo(durations.grace, -1);
  expect(await readTries(database, id)).toEqual(["unknown"]);
});

test("what was not due yet was not sent: it stays", async () => {
  const id = await newRow(database, "pending", {
    due_at: "now() + interval '1 minute'",
    owed_at: "now() + interval '1 minute'",
  });
  expect(await restore()).toBe(0);
  expect((await readRow(database, id)).state).toBe("pending");
});

test("a throttled row was due: it may have been sent, although nobody looks at it for an hour", async () => {
  const id = await newRow(database, "pending", { owed_at: "now() + interval '1 hour'" });
  expect(await restore()).toBe(1);
  expect((await readRow(database, id)).state).toBe("unknown");
});

test("its message sends nothing, and who held it then is fenced; the resend is a counted possible duplicate", async () => {
  const id = await newRow(database, "sending");
  await restore();
  expect(await receive(database, id)).toMatchObject({ verdict: "done" });
  // A worker of the time that is forgotten had claimed it some times more.
  for (const token of [2, 3, 4])
    expect(await recordOne(database, id, token, { kind: "unknown", reason: "no_answer" })).toBe(false);
  await passTime(database.sql, durations.grace + 1);
  expect(await look(database)).toMatchObject({ resent: 1 });
  expect(await readTries(database, id)).toEqual(["unknown", "resent"]);
  const { leased } = await take(database);
  const [row] = leased;
  if (!row) throw new Error("the resend is not due");
  for (const token of [2, 3, 4])
    expect(await recordOne(database, id, token, accepted), "a token of that time").toBe(false);
});

test("nothing that the queue said before, and no resend before the evidence had time to come", async () => {
  await database.sql`
    UPDATE owed.heartbeat SET queue_empty_since = now() - interval '1 hour', holder = 7, held_until = now() + interval '1 minute'`;
  await restore();
  expect(await beginSweep(database.ledger, durations)).toMatchObject({
    taken: true,
    queueWasEmpty: false,
    settled: false,
  });
});

test("what was dead at the backup may have been replayed since: its replay is counted, and that of a later death is not", async () => {
  const before = await newRow(database, "dead", { stopped_at: "now() - interval '1 minute'" });
  await restore();
  const after = await newRow(database, "dead");
  await replay(database.ledger, [before, after], { actor: "ann", why: "mended" }, "replayed");
  expect([await readTries(database, before), await readTries(database, after)]).toEqual([
    ["replayed", "resent"],
    ["replayed"],
  ]);
});

test.each([false, true])(
  "so is what comes back from the dead-letter queue, its channel closed: %s",
  async (closed) => {
    const before = await newRow(database, "dead", {
      stopped_at: "now() - interval '1 minute'",
      died_at: "NULL",
    });
    await restore();
    const after = await newRow(database, "dead", { died_at: "NULL" });
    if (closed)
      await setChannel(database, {
        closed_until: "'infinity'",
        closed_at: "now()",
        closed_for: "'operator'",
        closed_why: "'w'",
      });
    const verdict = closed ? "deferred" : "claimed";
    for (const id of [before, after]) expect(await receive(database, id)).toMatchObject({ verdict });
    expect([await readTries(database, before), await readTries(database, after)]).toEqual([
      ["redriven", "resent"],
      ["redriven"],
    ]);
  },
);

test("one that was replayed before it was due waits for its time, and may have been sent since the backup", async () => {
  const id = await newRow(database, "dead", { due_at: "now() + interval '1 hour'" });
  await replay(database.ledger, [id], { actor: "ann", why: "the address is right now" }, "replayed");
  expect(await secondsUntil(database, id, "owed_at")).toBeCloseTo(3600, -2);
  expect(await restore()).toBe(1);
  expect(await readTries(database, id)).toEqual(["replayed", "unknown"]);
});

test("what comes back and is not wanted any more is cancelled, and nothing is counted", async () => {
  const id = await newRow(database, "dead", { stopped_at: "now() - interval '1 minute'", died_at: "NULL" });
  await restore();
  await database.sql`UPDATE owed.subscriber SET opted_out_at = now()`;
  expect(await receive(database, id)).toMatchObject({ verdict: "cancelled" });
  expect(await readTries(database, id)).toEqual([]);
});

test("what the old sender has stays with it", async () => {
  const id = await newRow(database, "pending", { mode: "'shadow'", owed_at: "'infinity'" });
  const before = await readRow(database, id);
  expect(await restore()).toBe(0);
  expect(await readRow(database, id)).toEqual(before);
});
