import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { closeChannel } from "../operate/close-channel.ts";
import { openChannel } from "../operate/open-channel.ts";
import { readChannel, setChannel, shut } from "../testing/channel.ts";
import { race } from "../testing/race.ts";
import { empty } from "../testing/rows.ts";
import { recordRecovery } from "./record-recovery.ts";
import { recordTrouble, type Trouble } from "./record-trouble.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const breaker = { failures: 5, first: 30, longest: 100 };
const report = (trouble: Partial<Trouble> = {}) =>
  recordTrouble(database.ledger, breaker, {
    channel: "email",
    answered: false,
    failures: 1,
    close: null,
    why: "timeout",
    ...trouble,
  });
const told = (reason: "throttled" | "quota" | "account", seconds: number, failures = 0) =>
  report({ close: { for: reason, seconds }, failures, why: reason });
const lock = "SELECT FROM owed.channel WHERE name = 'email' FOR UPDATE";

describe("the breaker", () => {
  test("opens when so many calls have failed in a row, not before", async () => {
    expect([await report({ failures: 3 }), await report()]).toEqual([null, null]);
    expect(await readChannel(database)).toMatchObject({ failures: 4, openings: 0, closed: null });
    expect(await report({ why: "refused connection" })).toBe("down");
    const { closed, ...row } = await readChannel(database);
    expect(row).toMatchObject({
      failures: 5,
      openings: 1,
      closed_at: expect.any(Date),
      closed_for: "down",
      closed_why: "refused connection",
    });
    expect(closed).toBeCloseTo(30, -1);
  });

  test("waits twice as long each time it opens anew, up to the longest", async () => {
    const waits = [];
    await report({ failures: 4 });
    for (let turn = 0; turn < 4; turn += 1) {
      expect(await report()).toBe("down");
      const { closed } = await readChannel(database);
      waits.push(10 * Math.round((closed ?? 0) / 10));
      await passTime(database.sql, closed ?? 0);
    }
    expect(waits).toEqual([30, 60, 100, 100]);
  });

  test("opens anew on one failure of its probes", async () => {
    await report({ failures: 5 });
    await passTime(database.sql, 31);
    expect(await report()).toBe("down");
  });

  test("does not grow, nor move, while it is open: what was under way fails too", async () => {
    await report({ failures: 5 });
    const before = await readChannel(database);
    expect(await report({ failures: 7, why: "another" })).toBe("down");
    expect(await readChannel(database)).toEqual({ ...before, failures: 12, closed: expect.any(Number) });
  });

  test("after a thousand openings still waits for the longest", async () => {
    await setChannel(database, { openings: "1000", failures: "1000" });
    await report();
    expect((await readChannel(database)).closed).toBeCloseTo(100, -1);
  });

  test("reports that come at once are all counted, and open it once", async () => {
    await report({ failures: 4 });
    const all = await race(
      database,
      lock,
      [report, report, report].map((run) => () => run()),
    );
    expect(all).toEqual(["down", "down", "down"]);
    const { closed, ...row } = await readChannel(database);
    expect(row).toMatchObject({ failures: 7, openings: 1, closed_for: "down" });
    expect(closed).toBeCloseTo(30, -1);
  });

  test("of a channel that is not there is none", async () => {
    expect(await report({ channel: "pigeon", failures: 99 })).toBeNull();
  });
});

describe("what the provider says", () => {
  test.each(["throttled", "quota", "account"] as const)("closes the channel at once: %s", async (reason) => {
    expect(await told(reason, 300)).toBe(reason);
    const { closed, ...row } = await readChannel(database);
    expect(row).toMatchObject({ closed_for: reason, closed_why: reason });
    expect(closed).toBeCloseTo(300, -1);
  });

  test("extends an earlier closing, which keeps its beginning, and never shortens it", async () => {
    await told("throttled", 300);
    await passTime(database.sql, 60);
    const { closed_at } = await readChannel(database);
    expect(await told("quota", 100)).toBe("throttled");
    expect((await readChannel(database)).closed).toBeCloseTo(240, -1);
    expect(await told("quota", 1000)).toBe("quota");
    const row = await readChannel(database);
    expect(row).toMatchObject({ closed_for: "quota", closed_at });
    expect(row.closed).toBeCloseTo(1000, -1);
  });

  test("begins anew when the earlier closing has passed", async () => {
    await told("throttled", 30);
    await passTime(database.sql, 60);
    await told("throttled", 30);
    const [row] =
      await database.sql`SELECT clock_timestamp() - closed_at < interval '10 s' AS anew FROM owed.channel WHERE name = 'email'`;
    expect(row).toEqual({ anew: true });
  });

  test("is no failure of the provider, but for an account that it has stopped: only probes follow", async () => {
    await told("throttled", 30);
    await told("quota", 60);
    expect(await readChannel(database)).toMatchObject({ failures: 0, openings: 0 });
    await told("account", 90, 1);
    await told("account", 120, 1);
    expect(await readChannel(database)).toMatchObject({ openings: 1, failures: 2 });
  });

  test("ends a row of failures when others of the batch were answered, and no probing goes on", async () => {
    await report({ failures: 5 });
    await passTime(database.sql, 31);
    expect(await readChannel(database)).toMatchObject({ failures: 5, openings: 1 });
    await report({ answered: true, failures: 3, close: { for: "throttled", seconds: 120 } });
    expect(await readChannel(database)).toMatchObject({ failures: 0, openings: 0, closed_for: "throttled" });
  });

  test("is an opening of the breaker as well when so many calls in a row were answered with a wait", async () => {
    await told("throttled", 30, 4);
    expect(await readChannel(database)).toMatchObject({ failures: 4, openings: 0 });
    await passTime(database.sql, 31);
    await told("throttled", 30, 1);
    await told("throttled", 90, 1);
    expect(await readChannel(database)).toMatchObject({ failures: 6, openings: 1, closed_for: "throttled" });
    await passTime(database.sql, 91);
    // Only probes follow, until one is answered.
    expect(await recordRecovery(database.ledger, "email")).toBe(true);
    expect(await readChannel(database)).toMatchObject({ failures: 0, openings: 0, closed: null });
  });

  test("never touches what an operator closed", async () => {
    await closeChannel(database.ledger, "email", { actor: "ann", why: "maintenance" });
    const before = await readChannel(database);
    expect(await told("account", 1e6)).toBe("operator");
    expect(await report({ failures: 99 })).toBe("operator");
    expect(await readChannel(database)).toMatchObject({
      closed: Number.POSITIVE_INFINITY,
      closed_for: "operator",
      closed_why: "ann: maintenance",
      closed_at: before.closed_at,
      openings: 0,
    });
  });

  test("by several workers at once: the longest counts", async () => {
    const said = [100, 3000, 200].map((seconds) => () => told("quota", seconds, 1));
    expect(await race(database, lock, said)).toEqual(["quota", "quota", "quota"]);
    const { closed, failures } = await readChannel(database);
    expect(closed).toBeCloseTo(3000, -1);
    expect(failures).toBe(3);
  });
});

describe("recovery", () => {
  const recover = () => recordRecovery(database.ledger, "email");

  test("forgets the failures, and lets the breaker start anew", async () => {
    await report({ failures: 5 });
    await passTime(database.sql, 31);
    expect(await recover()).toBe(true);
    expect(await readChannel(database)).toMatchObject({
      failures: 0,
      openings: 0,
      closed: null,
      closed_for: null,
    });
    await report({ failures: 5 });
    expect((await readChannel(database)).closed).toBeCloseTo(30, -1);
  });

  test("has nothing to do, and writes nothing, when nothing had failed", async () => {
    expect(await recover()).toBe(false);
    expect(await recordRecovery(database.ledger, "pigeon")).toBe(false);
  });

  test.each([30, null])("never opens what was closed meanwhile (for %s s)", async (seconds) => {
    await setChannel(database, { failures: "2" });
    const [, recovered] = await race<unknown>(database, lock, [() => shut(database, seconds), recover]);
    expect(recovered).toBe(false);
    expect(await readChannel(database)).toMatchObject({ failures: 2, closed_for: "down" });
  });
});

describe("an operator", () => {
  test("closes a channel until a person opens it, and opens whatever closed it", async () => {
    await report({ failures: 5 });
    const { closed_at } = await readChannel(database);
    await closeChannel(database.ledger, "email", { actor: "ann", why: "w" });
    expect(await readChannel(database)).toMatchObject({ closed: Number.POSITIVE_INFINITY, closed_at });
    expect(await openChannel(database.ledger, "email", { actor: "ana", why: "mended" })).toBe(true);
    expect(await readChannel(database)).toMatchObject({
      failures: 0,
      openings: 0,
      closed: null,
      closed_at: null,
    });
    expect(await openChannel(database.ledger, "email", { actor: "ana", why: "mended" })).toBe(false);
  });

  test("is told when there is no such channel", async () => {
    await expect(closeChannel(database.ledger, "pigeon", { actor: "a", why: "w" })).rejects.toThrow("pigeon");
    await expect(openChannel(database.ledger, "pigeon", { actor: "ana", why: "mended" })).rejects.toThrow(
      "pigeon",
    );
  });
});
