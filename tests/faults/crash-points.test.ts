import type { Step } from "@owed/functions/step";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sesEvent } from "../../packages/functions/src/testing/ses-events.ts";
import { long } from "../support/long.ts";
import { judge } from "./judge.ts";
import { watchRows } from "./records.ts";
import { recover } from "./recover.ts";
import { stages, stepsOf } from "./steps.ts";
import { Traffic } from "./traffic.ts";
import { allConsumers } from "./world/consumers.ts";
import { World } from "./world/world.ts";

let world: World;
beforeAll(async () => {
  world = await World.start();
});
afterAll(() => world.stop());

/** A whole life of some notifications, in which every function has something to do. */
async function live(traffic: Traffic): Promise<void> {
  await traffic.owe(2, 2);
  await traffic.refuse();
  await world.bus.put({ source: "aws.ses", "detail-type": "Email Sent", detail: foreign.detail });
  await world.bus.idle();
  await world.consumers.settled();
  await world.beat();
  await world.consumers.settled();
}

/** A provider's event about a notification that is not in this ledger. */
const foreign = sesEvent("01989898-0000-7000-8000-000000000001");

/** Until messages that nobody handled, and those that wait for another look, have come again. */
async function comeAgain(): Promise<void> {
  await world.pass(181);
  await world.consumers.settled();
  await world.beat();
  await world.consumers.settled();
}

/** All of a function's steps in the long run; else every other one. */
const some = (steps: readonly Step[]) => (long ? steps : steps.filter((_, place) => place % 2 === 0));

/** What ingest does at once leaves nothing to a sweep: one that has work to die at works alone. */
const atOnceSteps: readonly Step[] = ["ingest:leased", "ingest:published", "ingest:marked"];
const trials = [
  ...stages.map((stage) => ({ stage: `${stage}`, steps: some(stepsOf(stage)), atOnce: stage !== "sweep" })),
  ...(long
    ? [
        {
          stage: "by sweeps alone, ingest",
          steps: stepsOf("ingest").filter((step) => !atOnceSteps.includes(step)),
          atOnce: false,
        },
      ]
    : []),
];

test.each(trials)(
  "$stage killed at each of its steps, one after the other",
  { timeout: 180_000 },
  async ({ steps, atOnce }) => {
    await world.publishAtOnce(atOnce);
    await world.reset();
    await watchRows(world.database);
    world.consumers.start(...allConsumers);
    const traffic = new Traffic(world);
    const alive: Step[] = [];
    for (const step of steps) {
      const ended = world.functions.ended;
      world.functions.stopNext({ how: "kill", step, nth: 1 });
      await live(traffic);
      // A message that is kept for a look comes again some times first, and a killed sweep's heartbeat runs out.
      for (let times = 0; world.functions.ended === ended && times < 5; times += 1) await comeAgain();
      if (world.functions.ended === ended) alive.push(step);
      world.functions.stopNoMore();
    }
    expect(alive, "steps that no process died at").toEqual([]);
    expect(await recover(world), "minutes of recovery").toBeLessThan(120);
    const notifications = 4 * steps.length;
    expect(await judge(world, traffic.owed)).toMatchObject({
      problems: [],
      ok: true,
      lost: 0,
      uncounted: 0,
      notifications,
      delivered: notifications,
    });
  },
);
