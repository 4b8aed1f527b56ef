import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { defaultDurations as durations } from "../durations.ts";
import { openChannel } from "../operate/open-channel.ts";
import { beginSweep } from "../sweep/begin-sweep.ts";
import { readChannel, shut } from "../testing/channel.ts";
import { race } from "../testing/race.ts";
import { empty } from "../testing/rows.ts";
import { type ChannelLimits, recordLimits } from "./record-limits.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const read = (limits: Partial<ChannelLimits> = {}, closeFor = 300) =>
  recordLimits(database.ledger, "email", { rate: 14, quota: 1000, used: 10, ...limits }, closeFor);
const usedUp = { quota: 1000, used: 1000 };

async function loadOf(...names: string[]) {
  const beginning = await beginSweep(database.ledger, durations);
  if (!beginning.taken) throw new Error(beginning.why);
  return names.map((name) => beginning.channels.find(({ channel }) => channel === name));
}

describe("a channel's limits", () => {
  test("are forgotten by a person's opening: what was used up is no limit until it is read again", async () => {
    await read(usedUp);
    await openChannel(database.ledger, "email", { actor: "ana", why: "mended" });
    expect((await loadOf("email"))[0]).toMatchObject({ quotaLeft: null, limitsAge: null, closed: false });
  });

  test("are kept, and told to the sweep: what is left, and how old they are", async () => {
    expect(await read()).toBe(false);
    await passTime(database.sql, 100);
    const [email, sms] = await loadOf("email", "sms");
    expect(email).toMatchObject({
      channel: "email",
      rate: 14,
      quotaLeft: 990,
      closed: false,
      probing: false,
    });
    expect(email?.limitsAge).toBeCloseTo(100, -1);
    // Nothing is known of the other one: that is no limit, not a limit of nought.
    expect(sms).toMatchObject({ rate: null, quotaLeft: null, limitsAge: null });
  });

  test("more than the quota was used: none is left", async () => {
    await read({ quota: 10, used: 20 });
    expect((await loadOf("email"))[0]).toMatchObject({ quotaLeft: 0, closed: true });
  });

  test("none: no quota closes nothing", async () => {
    expect(await read({ rate: null, quota: null, used: 1e6 })).toBe(false);
    expect((await loadOf("email"))[0]).toMatchObject({ rate: null, quotaLeft: null, closed: false });
  });

  test("of a channel that is not there are nobody's", async () => {
    expect(await recordLimits(database.ledger, "pigeon", { rate: 1, quota: 1, used: 1 }, 300)).toBe(false);
  });
});

describe("a quota that is used up", () => {
  test("closes the channel, says so, and is extended by the next look, from the same beginning", async () => {
    expect(await read(usedUp)).toBe(true);
    const { closed_at, closed } = await readChannel(database);
    expect(closed).toBeCloseTo(300, -1);
    expect(await readChannel(database)).toMatchObject({
      closed_for: "quota",
      closed_why: "1000 of 1000 messages were sent in 24 hours",
    });
    expect(await read(usedUp, 600)).toBe(true);
    const later = await readChannel(database);
    expect(later.closed).toBeCloseTo(600, -1);
    expect(later.closed_at).toEqual(closed_at);
  });

  test("opens once there is some left", async () => {
    await read(usedUp);
    expect(await read()).toBe(false);
    expect(await readChannel(database)).toMatchObject({
      closed: null,
      closed_at: null,
      closed_for: null,
      closed_why: null,
      used: 10,
    });
  });

  test.each([
    ["down", 100],
    ["throttled", 100],
    ["account", 1000],
    ["operator", null],
  ])("some left does not open what was closed for another reason: %s", async (reason, seconds) => {
    await shut(database, seconds, { reason });
    expect(await read()).toBe(true);
    expect(await readChannel(database)).toMatchObject({
      closed_for: reason,
      closed_why: "arranged",
      rate: 14,
    });
  });

  test.each([
    ["account", 1000],
    ["operator", null],
  ])("does not take over what is closed for longer: %s", async (reason, seconds) => {
    await shut(database, seconds, { reason });
    expect(await read(usedUp)).toBe(true);
    const { closed, closed_for } = await readChannel(database);
    expect(closed_for).toBe(reason);
    if (seconds === null) expect(closed).toBe(Number.POSITIVE_INFINITY);
    else expect(closed).toBeCloseTo(seconds, -1);
  });

  test("read by two at once closes once, and an operator who closes meanwhile keeps it closed", async () => {
    const lock = "SELECT FROM owed.channel WHERE name = 'email' FOR UPDATE";
    expect(await race(database, lock, [() => read(usedUp), () => read(usedUp)])).toEqual([true, true]);
    const [, still] = await race<unknown>(database, lock, [
      () => shut(database, null, { reason: "operator" }),
      () => read(),
    ]);
    expect(still).toBe(true);
    expect(await readChannel(database)).toMatchObject({ closed_for: "operator", closed_why: "arranged" });
  });
});
