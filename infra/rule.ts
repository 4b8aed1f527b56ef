import { prefix } from "./stage.ts";

export type RuleOptions = {
  name: string;
  /** The default bus when there is none. */
  bus?: aws.cloudwatch.EventBus;
  pattern: Record<string, unknown>;
  queue: sst.aws.Queue;
};

/**
 * A bus's events that fit go into a queue, whose policy must let the rule in. EventBridge tries for a day, and then drops an event: `FailedInvocations`
 * has an alarm. No DLQ here: what never was in the queue, the console's redrive could not bring back to it.
 */
export function createRule(
  title: string,
  { name, bus, pattern, queue }: RuleOptions,
): aws.cloudwatch.EventRule {
  const eventBusName = bus?.name ?? "default";
  const rule = new aws.cloudwatch.EventRule(`${title}Rule`, {
    name: `${prefix}-${name}`,
    eventBusName,
    eventPattern: $jsonStringify(pattern),
  });
  new aws.cloudwatch.EventTarget(`${title}Target`, {
    rule: rule.name,
    eventBusName,
    targetId: "queue",
    arn: queue.arn,
  });
  return rule;
}
