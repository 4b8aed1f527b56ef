import { setTimeout as sleep } from "node:timers/promises";
import { replay } from "@owed/ledger";
import { seededRandom } from "../../packages/local/src/random.ts";
import { redrive } from "../support/queue.ts";
import type { Action, History } from "./action.ts";
import type { Fault } from "./fault.ts";
import { all as faults } from "./faults/index.ts";
import { type Judgement, judge } from "./judge.ts";
import { watchRows } from "./records.ts";
import { recover } from "./recover.ts";
import { Traffic } from "./traffic.ts";
import { allConsumers } from "./world/consumers.ts";
import type { World } from "./world/world.ts";

export type Played = Judgement & {
  /** Minutes of the ledger's time that the recovery took. */
  minutes: number | null;
};

type Going = { fault: Fault; left: number; end: () => Promise<void> };

/** Plays a history in a world that is as at its start, lets everything recover, and judges. */
export async function play(world: World, history: History): Promise<Played> {
  await world.reset();
  await watchRows(world.database);
  const traffic = new Traffic(world);
  world.consumers.start(...allConsumers);
  let going: Going[] = [];
  const age = async (by: number) => {
    for (const one of going) one.left -= by;
    const over = going.filter(({ left }) => left <= 0);
    going = going.filter((one) => !over.includes(one));
    for (const { end } of over.toReversed()) await end();
  };
  for (const action of history) {
    if (action.do === "fault") {
      const fault = faults.find(({ name }) => name === action.fault);
      // Two of one part would undo each other's ends.
      if (fault && !going.some((one) => partOf(one.fault) === partOf(fault))) {
        const random = seededRandom(action.draws);
        const end = await fault.begin(world, (most) => Math.floor(random() * most));
        going.push({ fault, left: action.lasts + 1, end });
      }
    } else await act(world, traffic, action);
    await age(1);
  }
  await age(Number.POSITIVE_INFINITY);
  const minutes = await recover(world);
  const judged = await judge(world, traffic.owed);
  if (minutes !== null) return { ...judged, minutes };
  return {
    ...judged,
    ok: false,
    problems: ["the recovery did not come to an end", ...judged.problems],
    minutes,
  };
}

const partOf = ({ name }: Fault) => name.split(":")[0];

const operator = { actor: "operator", why: "a history says so" };

async function act(world: World, traffic: Traffic, action: Exclude<Action, { do: "fault" }>): Promise<void> {
  const { consumers, functions, database } = world;
  switch (action.do) {
    case "owe":
      // The platform's shipments are in the same database: without it there are no new ones.
      if (database.up) await traffic.owe(action.shipments, action.recipients);
      return;
    case "happen":
      return traffic.happenAgain(action.shipment);
    case "refuse":
      return traffic.refuse();
    case "pass":
      if (action.beats !== "each") await world.pass(action.minutes * 60);
      else
        for (let minute = 0; minute < Math.min(action.minutes, 5); minute += 1) {
          await world.pass(60);
          await world.beat();
        }
      if (action.beats === "last") await world.beat();
      return;
    case "beat":
      await Promise.all(Array.from({ length: action.sweeps }, () => world.beat()));
      return;
    case "work":
      if (action.seconds < 1) await sleep(action.seconds * 1000);
      else await consumers.settled(action.seconds);
      return;
    case "kill":
      functions.stopNext({ how: "kill", step: action.step, nth: action.nth });
      return;
    case "freeze":
      functions.stopNext({ how: "freeze", step: action.step, nth: action.nth, seconds: action.minutes * 60 });
      return;
    case "down":
      return consumers.beginStop(action.consumer);
    case "up":
      consumers.start(action.consumer);
      return;
    case "again":
      await consumers.invokeAgain(action.consumer);
      return;
    case "redrive":
      // SQS may be what goes wrong just now, and never answer.
      return Promise.race([redrive(world).catch(() => {}), sleep(2000)]);
    case "replay": {
      if (!database.up) return;
      const stopped = await database.sql<
        { id: string }[]
      >`SELECT id FROM owed.notification WHERE stopped_at IS NOT NULL`;
      await replay(
        database.ledger,
        stopped.map(({ id }) => id),
        operator,
        "replayed",
      );
    }
  }
}
