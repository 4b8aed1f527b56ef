import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { long } from "../support/long.ts";
import { wayToFill } from "./faults/disk.ts";
import { all } from "./faults/index.ts";
import type { MeetableFault } from "./faults/met.ts";
import { type Judgement, judge } from "./judge.ts";
import { watchRows } from "./records.ts";
import { recover } from "./recover.ts";
import { Traffic } from "./traffic.ts";
import { allConsumers } from "./world/consumers.ts";
import { World } from "./world/world.ts";

// Each fault alone, as hard as it can be: it meets every call, with work for each of the functions.

let world: World;
beforeAll(async () => {
  world = await World.start();
  await watchRows(world.database);
  // The processes are there before the first fault: all at once, on empty batches.
  const { functions } = world;
  const started = allConsumers.map((name) => functions.invoke(name, { Records: [] }));
  await Promise.all([world.beat(), ...started]);
  let begun = 0;
  const nothing: MeetableFault = {
    name: "nothing",
    get met() {
      return begun;
    },
    async begin() {
      begun += 1;
      return async () => {};
    },
  };
  expect(await suffer(nothing)).toMatchObject({ problems: [], delivered: 6 });
}, 180_000);
afterAll(() => world.stop(), 120_000);

/** Seconds that a fault lasts at most which keeps the work from coming to its end. */
const longest = (fault: MeetableFault) => (/^(postgres|sqs): /.test(fault.name) ? 1 : 30);

/** Minutes of work while it lasts: more than a message has receives, where that would matter. */
const minutes = (fault: MeetableFault) => (fault.name === "provider: throttles" ? 7 : 2);

/** Four messages wait for deliver, two notifications for ingest, and the fault begins. What is true when all is over. */
async function suffer(fault: MeetableFault): Promise<Judgement & { minutes: number | null }> {
  await world.reset();
  const traffic = new Traffic(world);
  await traffic.owe(2, 2);
  await world.bus.idle();
  world.consumers.start("ingest");
  await world.consumers.settled();
  await world.consumers.stop("ingest");
  expect(await world.beat()).toMatchObject({ published: 4 });
  await traffic.owe(1, 2);
  await world.bus.idle();

  const before = fault.met;
  const end = await fault.begin(world, () => 0);
  world.consumers.start(...allConsumers);
  const working = work(minutes(fault));
  await Promise.race([working, sleep(longest(fault) * 1000)]);
  // On a busy machine nobody may have come that far yet.
  await eventually(() => expect(fault.met).toBeGreaterThan(before), 4).catch(() => {});
  await end();
  await working;
  const took = await recover(world);
  return { ...(await judge(world, traffic.owed)), minutes: took };
}

/** Minutes pass: the consumers do what they can, with a beat of the schedule each. */
async function work(minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute += 1) {
    await world.consumers.settled(0.3);
    await world.beat();
    await world.consumers.settled(0.3);
    await world.pass(60);
  }
}

/** Every other one; in the long run all of them, the others by sweeps alone as well. */
const others = all.filter((_, place) => place % 2 === 1);
const faults = long ? all : all.filter((fault) => !others.includes(fault));
const trials = [
  ...faults.map((fault) => [fault.name, fault, true] as const),
  ...(long ? others.map((fault) => [`${fault.name}, by sweeps alone`, fault, false] as const) : []),
];

test.for(trials)("%s", async ([, fault, atOnce], { annotate }) => {
  const { name } = fault;
  await world.publishAtOnce(atOnce);
  if (name === "postgres: the disk is full") await annotate(`it is full by ${await wayToFill()}`);
  const before = fault.met;
  const suffered = await suffer(fault);
  expect(suffered.problems).toEqual([]);
  // Where the provider's events come, nobody is written to twice; where they are lost, each case is counted.
  expect(suffered.duplicates).toBe(name.endsWith("its events are lost") ? 6 : 0);
  expect(suffered.notifications).toBe(6);
  expect(suffered.minutes, "the recovery comes to an end").not.toBeNull();
  expect(fault.met, "the fault was met").toBeGreaterThan(before);
});
