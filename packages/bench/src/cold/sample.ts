import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { type Ledger, registerShipment, subscribe } from "@owed/ledger";
import type { Stack } from "@owed/local/stack";
import type { Stage } from "../../../../infra/bundle.ts";
import { consume, scheduleEvent, shipmentEvent } from "../../../../tests/bundles/events.ts";
import { type Lambda, startLambda } from "../../../../tests/bundles/lambda.ts";

/** Milliseconds that one fresh process took to import its artefact, and then for its first invocation. */
export type Sample = { stage: Stage; imported: number; invoked: number };

export type Cold = {
  /** With nothing consuming its queues, and no beat of its own. */
  stack: Stack;
  ledger: Ledger;
  /** The folder with the artefacts. */
  build: string;
  /** Called with each sample. */
  sampled: (sample: Sample) => void;
};

/**
 * One notification's way, each function in a fresh process: the events are those that the function before it caused.
 *
 * @throws when a function did not do its work: its time would mean nothing
 */
export async function sampleAll({ stack, ledger, build, sampled }: Cold): Promise<void> {
  const { client, queues, bus } = stack;
  const { POWERTOOLS_METRICS_DISABLED: _, ...environment } = stack.environment;
  /** `cause` gives the function its event. */
  const sample = async (stage: Stage, answers: Answers, cause: (invoke: Lambda["invoke"]) => Answered) => {
    const lambda = await startLambda({ stage, folder: join(build, stage), environment });
    try {
      const { answer, took } = await cause(lambda.invoke);
      if (!answers(answer))
        throw new Error(`${stage} answered ${JSON.stringify(answer)}:\n${lambda.output()}`);
      sampled({ stage, imported: lambda.loaded, invoked: took });
    } finally {
      await lambda.stop();
    }
  };
  const consumed = (stage: Stage, queue: { url: string; arn: string }) =>
    sample(stage, having("batchItemFailures", []), (invoke) => consume(client, queue, invoke));

  await sample("migrate", having("applied", []), (invoke) => invoke({}));
  await bus.put(shipmentEvent(await watchedShipment(ledger)));
  await consumed("ingest", queues.event);
  await sample("sweep", having("published", 1), (invoke) => invoke(scheduleEvent()));
  await consumed("deliver", queues.notification);
  await consumed("feedback", queues.feedback);
}

type Answered = ReturnType<Lambda["invoke"]>;
type Answers = (answer: unknown) => boolean;

/** An answer that has this value under this name. */
const having =
  (name: string, value: unknown): Answers =>
  (answer) =>
    JSON.stringify(Object(answer)[name]) === JSON.stringify(value);

async function watchedShipment(ledger: Ledger): Promise<string> {
  const id = `cold-${randomUUID()}`;
  await registerShipment(ledger, { id, trackingNumber: id, merchant: { id: "bench", name: "Bench" } });
  await subscribe(ledger, {
    ...{ shipmentId: id, recipientId: "buyer", role: "buyer", channel: "email" },
    ...{ address: "buyer@example.com", name: "Ann", locale: "en" },
  });
  return id;
}
