import { PurgeQueueCommand } from "@aws-sdk/client-sqs";
import { askQueue } from "@owed/functions/ask-queue";
import type { SqsCall, SqsFault } from "../../../packages/local/src/sqs/faults.ts";
import type { Draw } from "../fault.ts";
import { allConsumers } from "../world/consumers.ts";
import { observing, type World } from "../world/world.ts";
import { fault, type MeetableFault, picks, repeat } from "./met.ts";

const sends = ({ action }: SqsCall) => action === "SendMessageBatch";
const receives = ({ action }: SqsCall) => action === "ReceiveMessage";
const deletes = ({ action }: SqsCall) => action === "DeleteMessageBatch";
const anything = () => true;
/** What is lost on its way to the ledger, no ledger can know: events of shipments are never swallowed. */
const fromTheLedger = (call: SqsCall) => sends(call) && !call.queueName.startsWith("event");

const down = { error: { status: 503, code: "ServiceUnavailable", message: "Service is unavailable." } };

type Spoil = (draw: Draw, over: Promise<void>) => SqsFault;

/** Something is wrong with the answers to some calls. */
const answers = (name: string, calls: (call: SqsCall) => boolean, spoil: Spoil): MeetableFault =>
  fault(`sqs: ${name}`, async ({ sqs }, draw, meet) => {
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const picked = picks(draw);
    const remove = sqs.faults.add((call) => {
      if (call.caller === observing || !calls(call) || !picked()) return undefined;
      meet();
      return spoil(draw, over);
    });
    return async () => {
      remove();
      end();
    };
  });

const refusesSome: Spoil = (draw) => {
  const of = 2 + draw(3);
  const kept = draw(of);
  let entries = 0;
  const failed = () => {
    entries += 1;
    return entries % of === kept
      ? undefined
      : { code: "InternalError", message: "The message could not be stored." };
  };
  return { failed };
};

const garbles: Spoil = (draw) => {
  const half = (body: string) => body.slice(0, body.length / 2);
  return { garble: [() => "<html>Bad Gateway</html>", half, () => "", () => "{}"][draw(4)] ?? half };
};

const purged = fault("sqs: the queue is purged", async (world, draw, meet) => {
  const start = await world.consumers.keepDown("deliver");
  const purge = async () => meet(await purgeNotifications(world));
  const end = repeat(() => 20 + draw(200), purge);
  return async () => {
    await end();
    await purge();
    start();
  };
});

async function purgeNotifications({ observer, queues }: World): Promise<number> {
  const QueueUrl = queues.notification.url;
  const { waiting } = await askQueue(observer, QueueUrl);
  if (waiting > 0) await observer.send(new PurgeQueueCommand({ QueueUrl }));
  return waiting;
}

const doubled = fault("sqs: batches are handed out twice", async ({ consumers }, draw, meet) => {
  const again = async () => {
    const consumer = allConsumers[draw(allConsumers.length)] ?? "deliver";
    if (await consumers.invokeAgain(consumer)) meet();
  };
  return repeat(() => 5 + draw(50), again);
});

const hour = fault("sqs: nobody consumes for an hour", async (world, _draw, meet) => {
  const start = await world.consumers.keepDown(...allConsumers);
  const look = async () => meet((await askQueue(world.observer, world.queues.event.url)).waiting);
  await look();
  return async () => {
    for (let quarters = 0; quarters < 4; quarters += 1) {
      await world.pass(15 * 60);
      await world.beat();
    }
    await look();
    start();
  };
});

export const sqsFaults: readonly MeetableFault[] = [
  answers("answers 503", anything, () => down),
  answers("answers 503 to sends", sends, () => down),
  answers("answers 503 to receives", receives, () => down),
  answers("deletes fail", deletes, () => down),
  answers("keeps its answers back", anything, (_draw, over) => ({ hold: over })),
  answers("does it, and its answers are lost", anything, () => ({ drop: "after" })),
  answers("loses calls", anything, () => ({ drop: "before" })),
  answers("takes a part of a batch", sends, refusesSome),
  answers("swallows messages", fromTheLedger, () => ({ swallow: true })),
  answers("answers with garbage", anything, garbles),
  purged,
  doubled,
  hour,
];
