import type { Command, Provided, QueueName } from "./commands.ts";
import { type Batch, durations, runDeliver, runFeedback, runIngest, runSweep } from "./functions.ts";
import { anyOverlap } from "./invocation.ts";
import * as operator from "./operator.ts";
import { happen } from "./platform.ts";
import type { Queue } from "./queue.ts";
import { backUp, restore } from "./restore.ts";
import type { Simulation } from "./simulation.ts";
import { world as watched } from "./world.ts";

/** Takes one command of a history. */
export async function take(world: Simulation, command: Command): Promise<void> {
  switch (command.do) {
    case "event":
      happen(world, command);
      if (command.ingested) await runIngest(world, { most: 10, disturbance: null });
      return;
    case "beats":
      prepare(world, command);
      for (let beat = 0; beat < command.beats; beat += 1) {
        await world.pass(command.every, { beating: false });
        await work(world);
      }
      return;
    case "pass":
      return world.pass(command.seconds, command);
    case "ingest":
      await runIngest(world, command);
      return;
    case "sweep":
      await runSweep(world, command.disturbance);
      return;
    case "deliver":
      if (command.swept) await runSweep(world);
      prepare(world, command);
      return delivers(world, command);
    case "receives":
      await runSweep(world);
      prepare(world, command);
      for (let time = 0; time < command.times; time += 1) {
        await world.pass(180, { beating: true });
        await delivers(world, { most: 10, disturbance: command.disturbance });
      }
      return;
    case "feedback":
      await runFeedback(world, command);
      return;
    case "thaw": {
      const invocation = world.frozen[command.nth % Math.max(1, world.frozen.length)];
      if (invocation) await world.thaw(invocation);
      return;
    }
    case "lose":
      return queueOf(world, command.queue).lose(command.nth);
    case "double":
      world.times.doubled += 1;
      return queueOf(world, command.queue).double(command.nth);
    case "purge":
      world.notifications.messages = [];
      return;
    case "refuse":
      world.refusing = command.entries;
      return;
    case "redrive":
      return operator.redrive(world);
    case "replay":
      return operator.replayOne(world, command.nth, command.kind);
    case "cancel":
      return operator.cancelOne(world, command.nth);
    case "resolve":
      return operator.resolveOne(world, command.nth);
    case "opt out":
      return operator.optOut(world, command.shipment);
    case "close":
      await operator.close(world);
      return;
    case "open":
      await operator.open(world);
      return;
    case "recipient": {
      const [who] = watched[command.shipment].recipients;
      const address = `${who}.${command.shipment}@example.com`;
      if (command.answer) world.provider.about.set(address, command.answer);
      else world.provider.about.delete(address);
      return;
    }
    case "back up":
      return backUp(world);
    case "restore":
      return restore(world);
  }
}

function prepare({ provider }: Simulation, { answers, fates }: Provided): void {
  provider.answers = [...answers];
  provider.fates = [...fates];
}

/**
 * A batch. While its worker stands still, the schedule beats: a row that it holds is unknown by then, and when it
 * stands still for long, sent again. Another worker's batch may be under way when it goes on.
 */
async function delivers(world: Simulation, batch: Batch): Promise<void> {
  const before = world.frozen.length;
  const overlapping = before > 0 && !batch.disturbance && world.random() < 0.5;
  await runDeliver(world, overlapping ? { ...batch, disturbance: anyOverlap(world) } : batch);
  if (world.frozen.length <= before || !batch.disturbance) return;
  await runSweep(world);
  if (batch.disturbance.seconds < durations.grace) return;
  await world.pass(durations.grace, { beating: true });
  await runSweep(world);
}

/** One beat without trouble: everything that can be received is, and a sweep. Returns whether there was something to do. */
export async function work(world: Simulation): Promise<void> {
  const all = { most: 10, disturbance: null };
  while ((await runIngest(world, all)) > 0);
  while ((await runFeedback(world, all)) > 0);
  await runSweep(world);
  while ((await runDeliver(world, all)) > 0);
}

const queueOf = (world: Simulation, name: QueueName): Queue =>
  ({ event: world.events, notification: world.notifications, feedback: world.feedback })[name];
