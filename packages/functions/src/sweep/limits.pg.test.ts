import type { Limits } from "@owed/channel";
import { beginSweep, type ChannelLoad, defaultDurations as durations } from "@owed/ledger";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { parseSettings } from "../settings.ts";
import { empty } from "../testing/rows.ts";
import { countStatements } from "../testing/statements.ts";
import { type LimitSource, refreshLimits } from "./limits.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const load = (more: Partial<ChannelLoad> = {}): ChannelLoad => ({
  channel: "email",
  due: 1,
  inQueue: 0,
  rate: null,
  quotaLeft: null,
  limitsAge: null,
  closed: false,
  probing: false,
  ...more,
});
const says = (limits: Partial<Limits>) =>
  vi.fn<LimitSource>(async () => ({ rate: 14, quota: 50_000, used: 0, ...limits }));
const silent = () => vi.fn<LimitSource>(() => Promise.reject(new Error("no answer")));

async function refresh(given: ChannelLoad, source: LimitSource | null, settings: unknown = {}) {
  const onError = vi.fn();
  const [known] = await refreshLimits(
    {
      ledger: database.ledger,
      settings: parseSettings(settings),
      sources: new Map(source ? [["email", source]] : []),
      onError,
    },
    [given],
  );
  if (!known) throw new Error("a channel got lost");
  return { known, onError };
}

/** The channel as the next sweep finds it. */
async function nextLoad(): Promise<ChannelLoad> {
  await database.sql`UPDATE owed.heartbeat SET holder = NULL, held_until = NULL`;
  const beginning = await beginSweep(database.ledger, durations);
  const channels = beginning.taken ? beginning.channels : [];
  const found = channels.find(({ channel }) => channel === "email");
  if (!found) throw new Error("there is no channel");
  return found;
}
const readChannel = async () => {
  const [row] = await database.sql`
    SELECT rate, quota, used, closed_for, closed_why, round(extract(epoch FROM closed_until - now()))::float8 AS closed_s
    FROM owed.channel WHERE name = 'email'`;
  return row;
};

describe("a provider is asked", () => {
  test.each<[string, Partial<ChannelLoad>, number]>([
    ["when it never was", {}, 1],
    ["not while nothing is due", { due: 0 }, 0],
    ["when the last time is five minutes ago", { limitsAge: 300 }, 1],
    ["not before", { limitsAge: 299 }, 0],
    [
      "once a beat, when the quota may end before the next look",
      { limitsAge: 30, rate: 10, quotaLeft: 2999 },
      1,
    ],
    ["that is not more often", { limitsAge: 29, rate: 10, quotaLeft: 0 }, 0],
    ["what the queue has counts", { limitsAge: 30, rate: 10, quotaLeft: 3000, inQueue: 1 }, 1],
    ["not while the quota lasts for longer", { limitsAge: 30, rate: 10, quotaLeft: 3000 }, 0],
  ])("%s", async (_, more, times) => {
    const source = says({});
    const given = load(more);
    const work = () => refresh(given, source);
    // One that is not asked costs no statement.
    expect(await countStatements(database, work)).toBe(times);
    expect(source).toHaveBeenCalledTimes(times);
    if (times === 0) expect((await refresh(given, source)).known).toEqual(given);
  });

  test("and what it says is known in this sweep, and in the next ones", async () => {
    const { known } = await refresh(load({ due: 5, inQueue: 3 }), says({ rate: 14, quota: 200, used: 30 }));
    expect(known).toEqual(
      load({ due: 5, inQueue: 3, rate: 14, quotaLeft: 170, limitsAge: 0, closed: false }),
    );
    const next = await nextLoad();
    expect(next).toMatchObject({ rate: 14, quotaLeft: 170, closed: false });
    expect(next.limitsAge).toBeLessThan(60);
  });
});

describe("the settings bound what a provider allows", () => {
  test.each<[string, Partial<Limits> | null, object, object]>([
    ["it allows more", { rate: 50, quota: 1000 }, { rate: 14, quota: 200 }, { rate: 14, quota: 200 }],
    ["it allows less", { rate: 5, quota: 100 }, { rate: 14, quota: 200 }, { rate: 5, quota: 100 }],
    ["it has no limit", { rate: null, quota: null }, { rate: 14, quota: 200 }, { rate: 14, quota: 200 }],
    [
      "it can't be asked, nor counts what was sent",
      null,
      { rate: 14, quota: 200 },
      { rate: 14, quota: null },
    ],
    ["they say nothing", { rate: 50, quota: 1000 }, {}, { rate: 50, quota: 1000 }],
    ["nobody says anything", null, {}, { rate: null, quota: null }],
  ])("%s", async (_, told, bounds, kept) => {
    await refresh(load(), told && says(told), { limits: { email: bounds, sms: { rate: 1 } } });
    expect(await readChannel()).toMatchObject(kept);
  });

  test("numbers as providers write them: the ledger keeps whole ones that it can hold", async () => {
    await refresh(load(), says({ rate: 0.5, quota: 3e9, used: 12.9 }));
    expect(await readChannel()).toMatchObject({ rate: 0.5, quota: 2_147_483_647, used: 12 });
  });
});

describe("a provider that does not say", () => {
  test("what it said before stays, and the sweep goes on", async () => {
    await refresh(load(), says({ rate: 14, quota: 200, used: 10 }));
    const before = await database.sql`SELECT * FROM owed.channel`;
    const given = load({ rate: 14, quotaLeft: 190, limitsAge: 899 });
    const { known, onError } = await refresh(given, silent(), { limits: { email: { rate: 1 } } });
    expect(known).toEqual(given);
    expect(await database.sql`SELECT * FROM owed.channel`).toEqual(before);
    expect(onError).toHaveBeenCalledExactlyOnceWith(
      "the provider of email did not tell its limits",
      expect.objectContaining({ message: "no answer" }),
    );
  });

  test("for so long that what was left of a quota says nothing any more", async () => {
    const { known } = await refresh(load({ rate: 14, quotaLeft: 0, limitsAge: 900 }), silent());
    expect(known).toMatchObject({ rate: 14, quotaLeft: null });
  });

  test("and never did: the settings stand alone", async () => {
    const { known } = await refresh(load(), silent(), { limits: { email: { rate: 2 } } });
    expect(known).toMatchObject({ rate: 2, quotaLeft: null, closed: false });
    expect(await nextLoad(), "and it is asked again in the next sweep").toMatchObject({
      rate: 2,
      limitsAge: null,
    });
  });
});

describe("a quota", () => {
  test.each<[string, Partial<Limits>]>([
    ["that is used up", { quota: 200, used: 200 }],
    ["that is more than used up", { quota: 200, used: 201 }],
    ["of an account that may send nothing a second", { rate: 0, quota: 200, used: 0 }],
  ])("%s closes the channel until the next look", async (_, told) => {
    const { known } = await refresh(load(), says(told));
    expect(known).toMatchObject({ quotaLeft: 0, closed: true });
    expect(await readChannel()).toMatchObject({ closed_for: "quota", closed_s: 900 });
    expect(await nextLoad()).toMatchObject({ quotaLeft: 0, closed: true });
  });

  test("of which there is some again opens it, in the same sweep", async () => {
    await refresh(load(), says({ quota: 200, used: 200 }));
    const { known } = await refresh(
      load({ limitsAge: 60, quotaLeft: 0, closed: true }),
      says({ quota: 200, used: 150 }),
    );
    expect(known).toMatchObject({ quotaLeft: 50, closed: false });
    expect(await readChannel()).toMatchObject({ closed_for: null, closed_why: null });
  });

  test("opens no channel that is closed for something else", async () => {
    await database.sql`
      UPDATE owed.channel SET closed_at = now(), closed_until = 'infinity', closed_for = 'operator', closed_why = 'ana: stop'`;
    const { known } = await refresh(load({ closed: true }), says({}));
    expect(known.closed).toBe(true);
    expect(await readChannel()).toMatchObject({ closed_for: "operator", closed_why: "ana: stop" });
  });
});
