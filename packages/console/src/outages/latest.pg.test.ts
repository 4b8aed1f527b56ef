import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDesk, type Desk } from "../testing/context.ts";
import { latestOutage } from "./latest.ts";
import { beat, clear, fellDue, plain, sendAll } from "./testing.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await createDesk();
});
beforeEach(() => clear(desk));
afterAll(() => desk.end());

describe("the latest outage, for the page Now", () => {
  /** Another context each time: nothing of it is known yet. */
  const latest = async () => plain(String(await latestOutage({ ...desk.context })));

  test("is none where none was in the last two hours", async () => {
    await beat(desk, 300, 0);
    expect(await latest()).toBe("No outage in the last two hours.");
  });

  test("goes on, is not drained, is done", async () => {
    await beat(desk, 60, 30);
    await fellDue(desk, 2, 20);
    expect(await latest()).toMatch(
      /^Outage for \d+ min( \d+ s)?, and it goes on: no sweep since .* 2 notifications of that time are still owed/,
    );
    await beat(desk, 19, 0);
    expect(await latest()).toMatch(
      /^Outage of 1[01] min( \d+ s)?, .* still owed: 2 due = 2 still owed\. The whole report$/,
    );
    await sendAll(desk);
    expect(await latest()).toMatch(
      /2 notifications of it were sent more than a minute late, by 2 min( \d+ s)? at most\. Nothing that fell due/,
    );
  });

  test("is asked once by many, and kept for a while", async () => {
    await beat(desk, 60, 30);
    let asked = 0;
    const { services } = desk.context;
    const context = {
      ...desk.context,
      services: {
        ...services,
        settings: () => {
          asked += 1;
          return services.settings();
        },
      },
    };
    const [one, two] = await Promise.all([latestOutage(context), latestOutage(context)]);
    expect(String(one)).toBe(String(two));
    await latestOutage(context);
    expect(asked).toBe(1);
  });

  test("that could not be asked is asked anew", async () => {
    await beat(desk, 300, 0);
    let broken = true;
    const { services } = desk.context;
    const settings = () => (broken ? Promise.reject(new Error("no settings")) : services.settings());
    const context = { ...desk.context, services: { ...services, settings } };
    expect(plain(String(await latestOutage(context)))).toBe(
      "What became of it can't be told just now: no settings",
    );
    broken = false;
    expect(plain(String(await latestOutage(context)))).toBe("No outage in the last two hours.");
  });
});
