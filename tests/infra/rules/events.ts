import { detailType } from "../../../packages/functions/src/ingest/event.ts";
import type { Stack } from "../stack/stack.ts";
import { type EventRule, eventRulesOf, eventTargetsOf, queuePoliciesOf, queuesOf } from "../stack/views.ts";
import { type Rule, unless } from "./rule.ts";

type Pattern = { source?: unknown[]; "detail-type"?: unknown[] };

const patternOf = ({ inputs }: EventRule): Pattern => JSON.parse(inputs.eventPattern ?? "{}") as Pattern;

const letsIn = (stack: Stack, queue: string | null, rule: string | null): boolean =>
  queuePoliciesOf(stack)
    .flatMap(({ inputs }) => inputs.policy)
    .some(({ Resource, Condition }) => {
      const sources = Object.values(Condition).flatMap((test) => test["aws:SourceArn"] ?? []);
      return Resource.includes(queue ?? "") && sources.includes(rule ?? "");
    });

/** Amazon EventBridge user guide, "Event patterns", "Targets", "Resource-based policies". */
export const eventRules: Rule[] = [
  {
    name: "each rule brings the events it is for to a queue that lets it in",
    check: (stack) =>
      eventRulesOf(stack).flatMap(({ name, arn, inputs }) => {
        const targets = eventTargetsOf(stack).filter(({ inputs: target }) => target.rule === inputs.name);
        if (targets.length === 0) return [`${name} has no target`];
        return targets.flatMap((target) => {
          const { arn: to, eventBusName } = target.inputs;
          const queue = queuesOf(stack).find((one) => one.arn === to);
          if (!queue) return [`${target.name} brings events to ${to}, which is no queue of this stack`];
          if (eventBusName !== inputs.eventBusName) return [`${target.name} is of another bus than ${name}`];
          return letsIn(stack, queue.arn, arn)
            ? []
            : [`${queue.name} does not let ${name} in, which drops its events`];
        });
      }),
  },
  {
    name: "a rule is on, and names the events that it takes",
    check: (stack) =>
      unless(
        eventRulesOf(stack),
        (rule) => {
          const { source = [], "detail-type": types = [] } = patternOf(rule);
          const named = [...source, ...types];
          return (
            rule.inputs.state === "ENABLED" &&
            named.length > 0 &&
            named.every((one) => typeof one === "string")
          );
        },
        ({ name }) => `${name} is off, or takes whatever comes`,
      ),
  },
  {
    name: "the bus's rule takes the events that ingest takes",
    check: (stack) => {
      const own = eventRulesOf(stack).filter(({ inputs }) => inputs.eventBusName !== "default");
      const taken = own.flatMap((rule) => patternOf(rule)["detail-type"] ?? []);
      return taken.join() === detailType
        ? []
        : [`it takes ${taken.join(", ") || "nothing"}, and ingest ${detailType}`];
    },
  },
];
