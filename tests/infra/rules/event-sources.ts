import type { Stack } from "../stack/stack.ts";
import { type EventSource, eventSourcesOf, lambdaOf, lambdasOf, queuesOf } from "../stack/views.ts";
import { linkedSettings } from "./linked-settings.ts";
import { type Rule, unless } from "./rule.ts";

const queueOf = (stack: Stack, { inputs }: EventSource) =>
  queuesOf(stack).find(({ arn }) => arn === inputs.eventSourceArn);

const consumerOf = (stack: Stack, { inputs }: EventSource) =>
  lambdasOf(stack).find(({ arn }) => arn === inputs.functionName);

const ofFifo = (stack: Stack) =>
  eventSourcesOf(stack).filter((source) => queueOf(stack, source)?.inputs.fifoQueue);

const ofStandard = (stack: Stack) =>
  eventSourcesOf(stack).filter((source) => queueOf(stack, source)?.inputs.fifoQueue === false);

/** AWS Lambda developer guide, "Using Lambda with Amazon SQS", and the API's CreateEventSourceMapping. */
export const eventSourceRules: Rule[] = [
  {
    name: "each queue has the consumer that belongs to it",
    check: (stack) => {
      const expected = [
        ["EventQueue", "Ingest"],
        ["NotificationQueue", "Deliver"],
        ["FeedbackQueue", "Feedback"],
      ] as const;
      const found = eventSourcesOf(stack).map((source) => {
        const queue = queueOf(stack, source);
        const lambda = consumerOf(stack, source);
        return `${queue ? stack.topOf(queue).name : "?"} to ${lambda ? stack.topOf(lambda).name : "?"}`;
      });
      const wanted = expected.map(([queue, lambda]) => `${queue} to ${lambda}`);
      return [
        ...wanted.filter((one) => !found.includes(one)).map((one) => `nothing brings messages from ${one}`),
        ...found.filter((one) => !wanted.includes(one)).map((one) => `messages are brought from ${one}`),
      ];
    },
  },
  {
    name: "an event source is on, but for deliver's and feedback's while the stage is held",
    check: (stack) =>
      unless(
        eventSourcesOf(stack),
        (source) => {
          const consumer = consumerOf(stack, source);
          const waits = consumer && ["Deliver", "Feedback"].includes(stack.topOf(consumer).name);
          return source.inputs.enabled === !(stack.settings.hold && waits);
        },
        ({ name, inputs }) => `${name} is ${inputs.enabled ? "on" : "off"}`,
      ),
  },
  {
    name: "a FIFO queue's batch has at most 10 messages",
    check: (stack) =>
      unless(
        ofFifo(stack),
        ({ inputs }) => inputs.batchSize >= 1 && inputs.batchSize <= 10,
        ({ name, inputs }) => `${name} asks for batches of ${inputs.batchSize}`,
      ),
  },
  {
    name: "a FIFO queue's batch waits for no window",
    check: (stack) =>
      unless(
        ofFifo(stack),
        ({ inputs }) => inputs.maximumBatchingWindowInSeconds === 0,
        ({ name, inputs }) => `${name} asks for a window of ${inputs.maximumBatchingWindowInSeconds} s`,
      ),
  },
  {
    name: "a standard queue's batch over 10 messages has a window",
    check: (stack) =>
      unless(
        ofStandard(stack),
        ({ inputs }) =>
          inputs.batchSize <= 10 ||
          (inputs.batchSize <= 10_000 && inputs.maximumBatchingWindowInSeconds >= 1),
        ({ name, inputs }) => `${name} asks for batches of ${inputs.batchSize} and has no window`,
      ),
  },
  {
    name: "maximum concurrency is set, from 2 to 1000",
    check: (stack) =>
      unless(
        eventSourcesOf(stack),
        ({ inputs: { scalingConfig } }) =>
          scalingConfig !== undefined &&
          scalingConfig.maximumConcurrency >= 2 &&
          scalingConfig.maximumConcurrency <= 1000,
        ({ name, inputs }) =>
          `${name} has a maximum concurrency of ${inputs.scalingConfig?.maximumConcurrency}`,
      ),
  },
  {
    name: "a consumer's partial responses are heard",
    check: (stack) =>
      unless(
        eventSourcesOf(stack),
        ({ inputs }) => inputs.functionResponseTypes.join() === "ReportBatchItemFailures",
        ({ name }) => `${name} deletes what its consumer reports as failed`,
      ),
  },
  {
    name: "reserved concurrency is no less than the event source's maximum",
    check: (stack) =>
      eventSourcesOf(stack).flatMap((source) => {
        const reserved = consumerOf(stack, source)?.inputs.reservedConcurrentExecutions ?? -1;
        const most = source.inputs.scalingConfig?.maximumConcurrency ?? 0;
        return reserved === -1 || reserved >= most
          ? []
          : [
              `${source.name} may run ${most} at once, of which ${reserved} are reserved: the others are throttled`,
            ];
      }),
  },
  {
    name: "deliver divides a channel's rate by its event source's maximum concurrency",
    check: (stack) =>
      eventSourcesOf(stack)
        .filter(({ inputs }) => inputs.functionName === lambdaOf(stack, "Deliver")?.arn)
        .flatMap(({ inputs }) => {
          const [most, divisor] = [
            inputs.scalingConfig?.maximumConcurrency,
            linkedSettings(stack, "Deliver").deliver.concurrency,
          ];
          return most === divisor ? [] : [`${most} run at once, and each takes a ${divisor}th of the rate`];
        }),
  },
  {
    name: "the last receive that deliver knows of is the queue's",
    check: (stack) =>
      queuesOf(stack)
        .filter((queue) => stack.topOf(queue).name === "NotificationQueue")
        .flatMap(({ inputs }) => {
          const [queues, deliver] = [
            inputs.redrivePolicy?.maxReceiveCount,
            linkedSettings(stack, "Deliver").deliver.receives,
          ];
          return queues === deliver
            ? []
            : [`the queue gives up after ${queues} receives, deliver after ${deliver}`];
        }),
  },
];
