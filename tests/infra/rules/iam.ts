import { endpointsOf } from "../stack/network.ts";
import type { Statement } from "../stack/policy.ts";
import type { Stack } from "../stack/stack.ts";
import {
  eventRulesOf,
  lambdasOf,
  permissionsOf,
  queuePoliciesOf,
  queuesOf,
  rolesOf,
} from "../stack/views.ts";
import {
  type Allowed,
  bridge,
  expectedPermissions,
  networkInterfaces,
  readable,
  statementsIn,
} from "./permissions.ts";
import { urlOf } from "./queues.ts";
import { type Rule, unless } from "./rule.ts";
import { subscriptionsOf } from "./sms.ts";

/** Actions for which IAM takes no resource but `*` (service authorization reference). */
const withoutResource = new Set([
  ...networkInterfaces,
  "scheduler:ListScheduleGroups",
  "scheduler:ListSchedules",
  "ses:GetSendQuota",
  "sqs:ListQueues",
]);

/** Under `sst dev` SST's bridge talks to the developer's machine by an API that it makes when it starts. */
const isBridges = (stack: Stack, action: string) => stack.dev && bridge.includes(action);

const policiesOf = (stack: Stack) =>
  stack
    .all("aws:iam/policy:Policy")
    .map((policy) => ({ name: policy.name, statements: statementsIn(policy) }));

/** Every statement that lets a role or a person do something. */
const grantsOf = (stack: Stack): { name: string; statement: Statement }[] =>
  [
    ...rolesOf(stack).map((role) => ({ name: role.name, statements: permissionsOf(role) })),
    ...policiesOf(stack),
  ]
    .flatMap(({ name, statements }) => statements.map((statement) => ({ name, statement })))
    .filter(({ statement }) => statement.Effect === "Allow");

/** All of a log's streams are one resource to IAM. */
const isWildcard = (resource: string) =>
  /[*?]/.test(resource) && !/^arn:aws:logs:[^*?]+:log-group:[^*?]+:\*$/.test(resource);

export const iamRules: Rule[] = [
  {
    name: "a role is taken on by one AWS service, and nobody else",
    check: (stack) =>
      rolesOf(stack).flatMap(({ name, inputs }) =>
        unless(
          inputs.assumeRolePolicy.map(({ Principal }) => JSON.stringify(Principal)),
          (principal) => /^\{"Service":\["(lambda|scheduler|ec2)\.amazonaws\.com"\]\}$/.test(principal),
          (principal) => `${name} can be taken on by ${principal}`,
        ),
      ),
  },
  {
    name: "no action is a wildcard",
    check: (stack) =>
      grantsOf(stack).flatMap(({ name, statement: { Action, NotAction } }) => [
        ...Action.filter((action) => /[*?]/.test(action)).map((action) => `${name} allows ${action}`),
        ...NotAction.map((action) => `${name} allows all but ${action}`),
      ]),
  },
  {
    name: "no resource is a wildcard",
    check: (stack) =>
      grantsOf(stack).flatMap(({ name, statement: { Action, Resource, NotResource } }) => {
        const actions = Action.filter((action) => !withoutResource.has(action) && !isBridges(stack, action));
        if (actions.length === 0) return [];
        const inSandbox = (resource: string) =>
          stack.settings.email.sandbox && resource.endsWith(":identity/*");
        return [
          ...Resource.filter((one) => isWildcard(one) && !inSandbox(one)).map(
            (one) => `${name} allows ${actions} on ${one}`,
          ),
          ...NotResource.map((one) => `${name} allows ${actions} on all but ${one}`),
        ];
      }),
  },
  {
    name: "a role has no policy that somebody else writes",
    check: (stack) =>
      rolesOf(stack)
        // A bastion is reached by Session Manager too.
        .filter(({ name }) => !/^VpcBastion/.test(name))
        .flatMap(({ name, inputs }) => inputs.managedPolicyArns.map((arn) => `${name} has ${arn}`)),
  },
  {
    name: "each function may do exactly what it does",
    check: (stack) =>
      lambdasOf(stack).flatMap((lambda) => {
        const role = rolesOf(stack).find(({ arn }) => arn === lambda.inputs.role);
        if (!role) return [`${lambda.name} has a role of somebody else`];
        const wanted = expectedPermissions(stack)[stack.topOf(lambda).name];
        if (!wanted) return [`nobody knows what ${lambda.name} may do`];
        return difference(lambda.name, wanted, readable(stack, permissionsOf(role)));
      }),
  },
  {
    name: "an operator may do exactly what a redrive, a pause and the ledger need",
    check: (stack) => exactly(stack, "Operator"),
  },
  {
    name: "the platform may put events on the bus, log in as its own role, and nothing else",
    check: (stack) => exactly(stack, "Platform"),
  },
  {
    name: "each function has a role of its own",
    check: (stack) => {
      const byRole = Map.groupBy(lambdasOf(stack), ({ inputs }) => inputs.role);
      return [...byRole.values()]
        .filter((sharing) => sharing.length > 1)
        .map((sharing) => `${sharing.map(({ name }) => name).join(" and ")} share one`);
    },
  },
  {
    name: "a queue lets in EventBridge by its own rules, SNS by its own topic, and nobody else",
    check: (stack) =>
      queuePoliciesOf(stack).flatMap(({ name, inputs }) => {
        const queue = queuesOf(stack).find((one) => urlOf(one) === inputs.queueUrl);
        const own: Record<string, (string | null)[]> = {
          events: eventRulesOf(stack).map(({ arn }) => arn),
          sns: subscriptionsOf(stack).map(({ inputs: { topic } }) => topic),
        };
        return inputs.policy
          .filter(({ Effect }) => Effect === "Allow")
          .flatMap(({ Principal, Action, Resource, Condition }) => {
            const sources = Object.values(Condition).flatMap((test) => test["aws:SourceArn"] ?? []);
            const [, service = ""] =
              /^\{"Service":\["(events|sns)\.amazonaws\.com"\]\}$/.exec(JSON.stringify(Principal)) ?? [];
            const exact =
              Action.join() === "sqs:SendMessage" &&
              Resource.join() === queue?.arn &&
              sources.length > 0 &&
              sources.every((source) => own[service]?.includes(source));
            const from = sources.join(", ") || "anywhere";
            return exact
              ? []
              : [`${name} allows ${JSON.stringify(Principal)} ${Action} on ${Resource} from ${from}`];
          });
      }),
  },
  {
    name: "an endpoint lets this account's functions ask for what they need",
    check: (stack) => {
      const asked = new Set(lambdasOf(stack).flatMap((lambda) => actionsOf(stack, lambda.inputs.role)));
      return endpointsOf(stack).flatMap(({ name, inputs }) => {
        const service = servicePrefix[inputs.serviceName.split(".").at(-1) ?? ""] ?? "?";
        const allowed = inputs.policy.flatMap(({ Action }) => Action);
        const needed = [...asked].filter(
          (action) => action.startsWith(`${service}:`) && !byLambda.has(action),
        );
        return [
          ...needed
            .filter((action) => !allowed.includes(action))
            .map((action) => `${name} does not let ${action} out`),
          ...allowed
            .filter((action) => !needed.includes(action))
            .map((action) => `${name} lets ${action} out`),
          ...inputs.policy
            .filter(({ Condition }) => !Condition.StringEquals?.["aws:PrincipalAccount"])
            .map(() => `${name} lets other accounts' credentials be used`),
        ];
      });
    },
  },
];

const servicePrefix: Record<string, string> = {
  sqs: "sqs",
  email: "ses",
  "pinpoint-sms-voice-v2": "sms-voice",
  secretsmanager: "secretsmanager",
};

/** Lambda's pollers do this in a function's name, from outside of its network. */
const byLambda = new Set(["sqs:ReceiveMessage", "sqs:DeleteMessage"]);

const actionsOf = (stack: Stack, arn: string): string[] =>
  rolesOf(stack)
    .filter((role) => role.arn === arn)
    .flatMap(permissionsOf)
    .flatMap(({ Action }) => Action);

/** What is wrong with a policy that people or other services have attached. */
function exactly(stack: Stack, name: "Operator" | "Platform"): string[] {
  const policy = policiesOf(stack).find((one) => one.name === name);
  if (!policy) return [`there is no policy ${name}`];
  return difference(name, expectedPermissions(stack)[name] ?? [], readable(stack, policy.statements));
}

function difference(name: string, wanted: readonly Allowed[], found: readonly Allowed[]): string[] {
  return [
    ...wanted.filter((one) => !found.includes(one)).map((one) => `${name} may not ${one}`),
    ...found.filter((one) => !wanted.includes(one)).map((one) => `${name} may ${one}`),
  ];
}
