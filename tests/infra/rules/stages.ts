import type { Stack } from "../stack/stack.ts";
import { eventSourcesOf, queuesOf } from "../stack/views.ts";
import { linksNamed } from "./links.ts";
import { type Rule, unless } from "./rule.ts";

/** Costs by the hour or the month, used or not. Under sst dev the functions and the database are on the developer's machine. */
const paidByTheHour = new Set([
  "aws:cloudwatch/metricAlarm:MetricAlarm",
  "aws:ec2/eip:Eip",
  "aws:ec2/instance:Instance",
  "aws:ec2/natGateway:NatGateway",
  "aws:ec2/vpcEndpoint:VpcEndpoint",
  "aws:kms/key:Key",
  "aws:rds/instance:Instance",
  "aws:rds/proxy:Proxy",
  "aws:secretsmanager/secret:Secret",
  "aws:pinpoint/smsvoicev2PhoneNumber:Smsvoicev2PhoneNumber",
  "aws:lambda/provisionedConcurrencyConfig:ProvisionedConcurrencyConfig",
]);

const shadowsOf = (stack: Stack) =>
  queuesOf(stack).filter((queue) => stack.topOf(queue).name === "ShadowQueue");

/** The fields in which AWS has a resource's name, and how long it may be (each service's quotas). */
const names: Record<string, [field: string, most: number]> = {
  "aws:cloudwatch/eventBus:EventBus": ["name", 256],
  "aws:cloudwatch/eventArchive:EventArchive": ["name", 48],
  "aws:cloudwatch/eventRule:EventRule": ["name", 64],
  "aws:cloudwatch/metricAlarm:MetricAlarm": ["name", 255],
  "aws:iam/policy:Policy": ["name", 128],
  "aws:iam/role:Role": ["name", 64],
  "aws:lambda/function:Function": ["name", 64],
  "aws:pinpoint/smsvoicev2ConfigurationSet:Smsvoicev2ConfigurationSet": ["name", 64],
  "aws:pinpoint/smsvoicev2OptOutList:Smsvoicev2OptOutList": ["name", 64],
  "aws:rds/instance:Instance": ["identifier", 63],
  "aws:rds/parameterGroup:ParameterGroup": ["name", 255],
  "aws:rds/subnetGroup:SubnetGroup": ["name", 255],
  "aws:scheduler/schedule:Schedule": ["name", 64],
  "aws:sesv2/configurationSet:ConfigurationSet": ["configurationSetName", 64],
  "aws:sns/topic:Topic": ["name", 256],
  "aws:sqs/queue:Queue": ["name", 80],
};

const named = (stack: Stack) =>
  Object.entries(names).flatMap(([type, [field, most]]) =>
    stack.all(type).map(({ name, inputs }) => ({ type, name, physical: String(inputs[field] ?? ""), most })),
  );

/** What Pulumi puts for a value that it does not know, and JavaScript for one that is no text. */
const nonsense =
  /04da6b54-80e4-46f7-96ec-b56ff0331ba9|\bundefined\b|\[object Object\]|Calling \[toString\]|\bNaN\b/;

export const stageRules: Rule[] = [
  {
    name: "every value is known",
    check: (stack) =>
      stack.resources.flatMap(({ name, inputs }) => {
        const found = nonsense.exec(JSON.stringify(inputs));
        return found ? [`${name} has ${found[0]}`] : [];
      }),
  },
  {
    name: "names are as AWS takes them, and none is there twice",
    check: (stack) => {
      const all = named(stack);
      const counts = Map.groupBy(all, ({ type, physical }) => `${type} ${physical}`);
      return [
        ...unless(
          all,
          ({ physical, most }) =>
            physical.length > 0 && physical.length <= most && /^[\w./#-]+$/.test(physical),
          ({ name, physical, most }) =>
            `${name} can't be called ${physical || "nothing"}: ${most} characters at most`,
        ),
        ...[...counts].filter(([, same]) => same.length > 1).map(([name]) => `two are called ${name}`),
      ];
    },
  },
  {
    name: "what has a name has its stage in it",
    check: (stack) =>
      unless(
        named(stack),
        ({ physical }) => physical.includes(stack.stage),
        ({ name, physical }) => `${name} is called ${physical}, as in another stage of the account`,
      ),
  },
  {
    name: "production can't be removed by mistake",
    check: (stack) => {
      if (!stack.production) return [];
      const { removal, protect } = stack.app;
      return removal === "retain" && protect ? [] : [`removal is ${removal}, protect is ${protect}`];
    },
  },
  {
    name: "sst dev costs nothing by the hour",
    check: (stack) =>
      stack.dev
        ? stack.resources
            .filter(({ type }) => paidByTheHour.has(type))
            .map(({ name, type }) => `${name} (${type})`)
        : [],
  },
  {
    name: "the shadow queue is there when asked for, and nobody consumes it",
    check: (stack) => {
      const shadows = shadowsOf(stack);
      const wanted = stack.settings.shadowQueue ? 1 : 0;
      return [
        ...(shadows.length === wanted ? [] : [`there are ${shadows.length} shadow queues, not ${wanted}`]),
        ...eventSourcesOf(stack)
          .filter(({ inputs }) => shadows.some(({ arn }) => arn === inputs.eventSourceArn))
          .map(({ name }) => `${name} consumes it`),
        ...unless(
          shadows,
          ({ inputs }) => inputs.fifoQueue,
          ({ name }) => `${name} is no FIFO queue as the one that it stands beside`,
        ),
      ];
    },
  },
  {
    name: "the shadow queue is told to the sweep alone",
    check: (stack) => {
      const found = linksNamed(stack, "ShadowQueue").map(({ id }) => id);
      return found.join() === (stack.settings.shadowQueue ? "Sweep" : "")
        ? []
        : [`it is told to ${found.join(", ") || "nobody"}`];
    },
  },
  {
    name: "nobody consumes a dead-letter queue",
    check: (stack) =>
      eventSourcesOf(stack).flatMap(({ name, inputs }) =>
        queuesOf(stack)
          .filter((queue) => queue.arn === inputs.eventSourceArn && stack.topOf(queue).name.endsWith("Dlq"))
          .map((queue) => `${name} consumes ${queue.name}`),
      ),
  },
  {
    name: "everything is in one region, by one provider",
    check: (stack) => {
      const others = stack.resources.filter(({ type }) => type.startsWith("pulumi:providers:"));
      return others.map(({ name }) => `${name} is another provider`);
    },
  },
];
