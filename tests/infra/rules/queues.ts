import type { Stack } from "../stack/stack.ts";
import { eventSourcesOf, lambdasOf, type Queue, queuesOf, redriveAllowPoliciesOf } from "../stack/views.ts";
import { days, type Rule, unless } from "./rule.ts";

const named = (stack: Stack, name: string): Queue[] =>
  queuesOf(stack).filter((queue) => stack.topOf(queue).name === name);

/** Each queue that redrives, with the queue that it redrives to. */
const redrives = (stack: Stack) =>
  queuesOf(stack).flatMap((source) => {
    const { redrivePolicy } = source.inputs;
    if (!redrivePolicy) return [];
    const target = queuesOf(stack).find(({ arn }) => arn === redrivePolicy.deadLetterTargetArn);
    return [{ source, target, receives: redrivePolicy.maxReceiveCount }];
  });

/** Amazon SQS developer guide, "Dead-letter queues", "Visibility timeout", "High throughput for FIFO queues"; Lambda's, "SQS". */
export const queueRules: Rule[] = [
  {
    name: "a queue and its dead-letter queue are of one kind",
    check: (stack) =>
      unless(
        redrives(stack),
        ({ source, target }) => target?.inputs.fifoQueue === source.inputs.fifoQueue,
        ({ source, target }) =>
          `${source.name} is ${kind(source)}, its dead-letter queue ${target ? `${target.name} is ${kind(target)}` : "is none of this stack"}`,
      ),
  },
  {
    name: "every queue that is consumed has a dead-letter queue",
    check: (stack) =>
      unless(
        eventSourcesOf(stack),
        ({ inputs }) => redrives(stack).some(({ source }) => source.arn === inputs.eventSourceArn),
        ({ inputs }) => `the queue ${inputs.eventSourceArn} is consumed and has no redrive policy`,
      ),
  },
  {
    name: "a message is received five times before it is dead",
    check: (stack) =>
      unless(
        redrives(stack),
        ({ receives }) => receives >= 5 && receives <= 1000,
        ({ source, receives }) => `${source.name} gives up after ${receives} receives`,
      ),
  },
  {
    name: "a queue names its dead-letter queue's only source",
    check: (stack) =>
      redrives(stack).flatMap(({ source, target }) => {
        const allowed = redriveAllowPoliciesOf(stack).find(({ inputs }) => inputs.queueUrl === urlOf(target));
        if (!allowed) return [`${target?.name} has no redrive allow policy: any queue could redrive to it`];
        const { redrivePermission, sourceQueueArns } = allowed.inputs.redriveAllowPolicy;
        const exact = redrivePermission === "byQueue" && sourceQueueArns.join() === source.arn;
        return exact ? [] : [`${allowed.name} allows ${redrivePermission} ${sourceQueueArns.join(", ")}`];
      }),
  },
  {
    name: "a dead-letter queue keeps messages for 14 days",
    check: (stack) =>
      unless(
        redrives(stack),
        ({ target }) => target?.inputs.messageRetentionSeconds === 14 * days,
        ({ target }) => `${target?.name} keeps messages for ${target?.inputs.messageRetentionSeconds} s`,
      ),
  },
  {
    name: "a queue keeps messages for 14 days",
    check: (stack) =>
      unless(
        redrives(stack),
        ({ source }) => source.inputs.messageRetentionSeconds === 14 * days,
        ({ source }) => `${source.name} keeps messages for ${source.inputs.messageRetentionSeconds} s`,
      ),
  },
  {
    name: "visibility timeout is six times the consumer's timeout",
    check: (stack) =>
      eventSourcesOf(stack).flatMap(({ inputs }) => {
        const queue = queuesOf(stack).find(({ arn }) => arn === inputs.eventSourceArn);
        const lambda = lambdasOf(stack).find(({ arn }) => arn === inputs.functionName);
        if (!queue || !lambda) return [];
        const [visibility, { timeout }] = [queue.inputs.visibilityTimeoutSeconds, lambda.inputs];
        return visibility >= 6 * timeout
          ? []
          : [
              `${queue.name} shows a message again after ${visibility} s, and ${lambda.name} may run for ${timeout} s`,
            ];
      }),
  },
  {
    name: "every queue is encrypted",
    check: (stack) =>
      unless(
        queuesOf(stack),
        ({ inputs }) => inputs.sqsManagedSseEnabled || inputs.kmsMasterKeyId !== undefined,
        ({ name }) => `${name} is not encrypted`,
      ),
  },
  {
    name: "a FIFO queue has high throughput, and its sender's deduplication ids",
    check: (stack) =>
      unless(
        queuesOf(stack).filter(({ inputs }) => inputs.fifoQueue),
        ({ inputs }) =>
          inputs.deduplicationScope === "messageGroup" &&
          inputs.fifoThroughputLimit === "perMessageGroupId" &&
          !inputs.contentBasedDeduplication,
        ({ name, inputs }) =>
          `${name}: deduplication scope ${inputs.deduplicationScope}, throughput limit ${inputs.fifoThroughputLimit}, content-based ${inputs.contentBasedDeduplication}`,
      ),
  },
  {
    name: "notifications go through a FIFO queue",
    check: (stack) =>
      ["NotificationQueue", "NotificationDlq"].flatMap((name) => {
        const [queue] = named(stack, name);
        if (!queue) return [`${name} is missing`];
        return queue.inputs.fifoQueue ? [] : [`${name} is a standard queue`];
      }),
  },
  {
    name: "the standard queues take events, each with its own dead-letter queue",
    check: (stack) =>
      ["EventQueue", "EventDlq", "FeedbackQueue", "FeedbackDlq"].flatMap((name) => {
        const [queue] = named(stack, name);
        if (!queue) return [`${name} is missing`];
        return queue.inputs.fifoQueue ? [`${name} is a FIFO queue, which EventBridge can't order`] : [];
      }),
  },
  {
    name: "a queue's attributes are within SQS's limits",
    check: (stack) =>
      queuesOf(stack).flatMap(({ name, inputs }) => [
        ...outside(name, "visibility timeout", inputs.visibilityTimeoutSeconds, 0, 43_200),
        ...outside(name, "retention", inputs.messageRetentionSeconds, 60, 14 * days),
        ...outside(name, "delay", inputs.delaySeconds, 0, 900),
        ...outside(name, "receive wait time", inputs.receiveWaitTimeSeconds, 0, 20),
        ...(/^[\w-]{1,75}(\.fifo)?$/.test(inputs.name) && inputs.name.endsWith(".fifo") === inputs.fifoQueue
          ? []
          : [`${name} can't be called ${inputs.name}`]),
      ]),
  },
];

const kind = ({ inputs }: Queue): string => (inputs.fifoQueue ? "FIFO" : "standard");

const outside = (name: string, what: string, seconds: number, least: number, most: number): string[] =>
  seconds >= least && seconds <= most
    ? []
    : [`${name} has a ${what} of ${seconds} s, not ${least} to ${most}`];

/** A queue's URL, from its ARN as AWS makes both. */
export function urlOf(queue: Queue | undefined): string {
  const [, , , region, account, name] = queue?.arn?.split(":") ?? [];
  return `https://sqs.${region}.amazonaws.com/${account}/${name}`;
}
