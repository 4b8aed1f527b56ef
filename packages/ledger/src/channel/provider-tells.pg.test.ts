import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { defaultDurations as durations } from "../durations.ts";
import { claimRow, look, receive, recordOne, take } from "../testing/act.ts";
import { empty, newRow, readRow, readTries, secondsUntil } from "../testing/rows.ts";

// Where no event of the provider will ever tell what became of a message, nothing is waited for.

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const graces = [
  ["email", durations.grace],
  ["sms", durations.grace],
  ["webhook", 0],
] as const;
/** How a row's outcome gets unknown. */
const ways: Record<string, (channel: string) => Promise<string>> = {
  "its worker gets no answer": async (channel) => {
    const id = await newRow(database, "queued", { channel: `'${channel}'` });
    const { token } = await claimRow(database, id);
    await recordOne(database, id, token, { kind: "unknown", reason: "no_answer" });
    return id;
  },
  "a sweep finds its worker gone": async (channel) => {
    const id = await newRow(database, "sending", {
      channel: `'${channel}'`,
      owed_at: "now()",
      leased_until: "now()",
    });
    expect(await look(database)).toMatchObject({ unknown: 1 });
    return id;
  },
  "another worker finds its worker gone": async (channel) => {
    const id = await newRow(database, "sending", { channel: `'${channel}'`, leased_until: "now()" });
    expect(await receive(database, id)).toEqual({ verdict: "unknown" });
    return id;
  },
};

describe.each(Object.entries(ways))("%s", (_, happens) => {
  test.each(graces)(
    "by %s: it waits %i s, is then sent again, and counted as a possible duplicate",
    async (channel, grace) => {
      const id = await happens(channel);
      expect((await readRow(database, id)).state).toBe("unknown");
      expect(await secondsUntil(database, id, "owed_at")).toBeCloseTo(grace, -1);
      if (grace > 0) {
        expect(await look(database)).toMatchObject({ taken: 0, resent: 0 });
        await passTime(database.sql, grace);
      }
      expect(await look(database)).toMatchObject({ resent: 1 });
      expect(await readRow(database, id)).toMatchObject({ state: "pending", generation: 1, resends: 1 });
      expect((await readTries(database, id)).at(-1)).toBe("resent");
      expect((await take(database, { shares: [{ channel, most: 1 }] })).leased).toMatchObject([{ id }]);
    },
  );
});
