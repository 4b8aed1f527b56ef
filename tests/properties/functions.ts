import { defaultDurations } from "@owed/ledger";
import { deliver } from "../../packages/functions/src/deliver/deliver.ts";
import { feedback } from "../../packages/functions/src/feedback/feedback.ts";
import { ingest } from "../../packages/functions/src/ingest/ingest.ts";
import { parseSettings } from "../../packages/functions/src/settings.ts";
import { type Disposal, respond } from "../../packages/functions/src/sqs-batch.ts";
import { sweep } from "../../packages/functions/src/sweep/sweep.ts";
import type { Disturbance, Invocation } from "./invocation.ts";
import { wrongInBatch } from "./neighbours.ts";
import type { Queue, SQSRecord } from "./queue.ts";
import type { Simulation } from "./simulation.ts";

export const settings = parseSettings({});
export const durations = defaultDurations;

/** Seconds left to whoever asks; none to the dead, so that they don't wait for ever. */
const remainingOf = (by: Invocation, seconds: number) => () => (by.state === "dead" ? 0 : seconds);

const clocksOf = (world: Simulation) => () => ({
  wall: world.clock.now * 1000,
  monotonic: world.clock.now * 1000,
});

export const runSweep = (world: Simulation, disturbance: Disturbance | null = null) =>
  world.invoke("sweep", disturbance, async (by) => {
    await sweep({
      ledger: world.ledgerOf(by),
      sqs: world.sqsOf(by),
      notificationQueueUrl: world.notifications.url,
      feedbackQueueUrl: world.feedback.url,
      settings,
      limits: new Map(),
      remaining: remainingOf(by, 60),
      clocks: clocksOf(world),
      onError: world.onError(by),
    });
  });

export type Batch = { most: number; disturbance: Disturbance | null };

/** One batch for the workers; returns how many messages it had, and who worked. */
export const runDeliver = (world: Simulation, { most, disturbance }: Batch) =>
  consume(world, world.notifications, { most, disturbance }, async (by, records) => {
    const { disposals, counts } = await deliver(
      {
        ledger: world.ledgerOf(by),
        channels: new Map([["email", world.provider.channelOf(by)]]),
        settings,
        pace: { take: async () => true },
        remaining: remainingOf(by, 30),
        clocks: clocksOf(world),
        onError: world.onError(by),
      },
      records,
    );
    const failed = new Set(
      records
        .filter((record) => disposals.get(record)?.acknowledge !== true)
        .map(({ messageId }) => messageId),
    );
    world.wrong.push(...wrongInBatch(world, by, { records, counts, failed }));
    return disposals;
  });

export const runIngest = (world: Simulation, batch: Batch) =>
  consume(world, world.events, batch, async (by, records) => {
    const context = {
      ledger: world.ledgerOf(by),
      sqs: world.sqsOf(by),
      notificationQueueUrl: world.notifications.url,
      settings,
      remaining: remainingOf(by, 30),
      onError: world.onError(by),
    };
    return (await ingest(context, records)).disposals;
  });

export const runFeedback = (world: Simulation, batch: Batch) => {
  world.feedback.shuffle(world.random);
  return consume(
    world,
    world.feedback,
    batch,
    async (by, records) =>
      (await feedback({ ledger: world.ledgerOf(by), onError: world.onError(by) }, records)).disposals,
  );
};

/** As the event source mapping does: what the function does not report as failed is deleted. */
async function consume(
  world: Simulation,
  queue: Queue,
  { most, disturbance }: Batch,
  handle: (by: Invocation, records: SQSRecord[]) => Promise<Map<SQSRecord, Disposal>>,
): Promise<number> {
  const records = queue.receive(most).map(({ record }) => record);
  if (records.length === 0) return 0;
  const name =
    queue.name === "notification.fifo" ? "deliver" : queue.name === "event" ? "ingest" : "feedback";
  await world.invoke(name, disturbance, async (by) => {
    const disposals = await handle(by, records);
    const { batchItemFailures } = await respond(world.sqsOf(by), queue.url, disposals, () => {});
    const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    const remove = async () => {
      for (const record of records) if (!failed.has(record.messageId)) queue.delete(record);
    };
    // The function answered and the platform did not hear it: nothing is deleted.
    await by.through(remove, async (call, happened) => {
      if (happened) await call();
    });
  });
  return records.length;
}
