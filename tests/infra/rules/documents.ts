import { isDeepStrictEqual } from "node:util";
import { endpointsOf } from "../stack/network.ts";
import { type Statement, statementsOf } from "../stack/policy.ts";
import type { Stack } from "../stack/stack.ts";
import { eventRulesOf, eventTargetsOf, queuePoliciesOf, queuesOf, rolesOf } from "../stack/views.ts";
import { account } from "../synth/computed.ts";
import { urlOf } from "./queues.ts";
import { type Rule, unless } from "./rule.ts";
import { ofThisAccount, senderOf, subscriptionsOf } from "./sms.ts";

type Allowed = { to: Statement["Principal"]; actions: string[]; on?: string[]; if?: Statement["Condition"] };

/** The one statement of a document, with nothing left out. */
const allow = ({ to, actions, on = [], if: condition = {} }: Allowed): Statement => ({
  Effect: "Allow",
  Principal: to,
  Action: actions,
  NotAction: [],
  Resource: on,
  NotResource: [],
  Condition: condition,
});

const service = (name: string): Statement["Principal"] => ({ Service: [`${name}.amazonaws.com`] });
const equal = (key: string, value: string) => ({ StringEquals: { [key]: [value] } });

/** What each endpoint lets out: what the functions ask of its service, and of nobody else's things. */
function expectedOf(stack: Stack, serviceName: string): Statement[] {
  const { name, stage, region } = stack.app;
  const here = (of: string, resource: string) => `arn:aws:${of}:${region}:${account}:${resource}`;
  const allowed: Record<string, { actions: string[]; on: string[] }> = {
    sqs: {
      actions: ["sqs:SendMessage", "sqs:GetQueueAttributes", "sqs:ChangeMessageVisibility"],
      on: [here("sqs", `${name}-${stage}-*`)],
    },
    email: { actions: ["ses:SendEmail", "ses:GetSendQuota"], on: ["*"] },
    "pinpoint-sms-voice-v2": {
      actions: ["sms-voice:SendTextMessage"],
      on: [senderOf(stack), here("sms-voice", `configuration-set/${name}-${stage}`)],
    },
    secretsmanager: {
      actions: ["secretsmanager:GetSecretValue"],
      on: [here("secretsmanager", "secret:rds!db-*")],
    },
  };
  const found = allowed[serviceName.replace(`com.amazonaws.${region}.`, "")];
  return found ? [allow({ to: { AWS: ["*"] }, ...found, if: equal("aws:PrincipalAccount", account) })] : [];
}

/** Who takes on a role: Lambda for a function, the Scheduler for the schedule of this account, EC2 for a bastion. */
function trustOf(name: string): Statement {
  const actions = ["sts:AssumeRole"];
  if (name === "SweepScheduleRole")
    return allow({ to: service("scheduler"), actions, if: equal("aws:SourceAccount", account) });
  return allow({ to: service(/^VpcBastion/.test(name) ? "ec2" : "lambda"), actions });
}

/** A key that the account's own policies decide on, and that one service uses: for alarms, or for answers to texts. */
function keyPolicyOf(stack: Stack, name: string): Statement[] {
  const [user, condition] =
    name === "SmsReplyKey"
      ? (["sms-voice", ofThisAccount(stack)] as const)
      : (["cloudwatch", equal("aws:SourceAccount", account)] as const);
  const actions = ["kms:Decrypt", "kms:GenerateDataKey*"];
  return [
    allow({ to: { AWS: [`arn:aws:iam::${account}:root`] }, actions: ["kms:*"], on: ["*"] }),
    allow({ to: service(user), actions, on: ["*"], if: condition }),
  ];
}

/** A queue that rules or topics bring messages to lets these in. */
function queuePolicyOf(stack: Stack, queueUrl: string): Statement[] {
  const queue = queuesOf(stack).find((one) => urlOf(one) === queueUrl);
  const rules = eventTargetsOf(stack)
    .filter(({ inputs }) => inputs.arn === queue?.arn)
    .flatMap((target) => eventRulesOf(stack).filter(({ inputs }) => inputs.name === target.inputs.rule));
  const topics = subscriptionsOf(stack)
    .filter(({ inputs }) => inputs.endpoint === queue?.arn)
    .map(({ inputs }) => inputs.topic);
  const letIn = (of: string, sources: string[]) =>
    allow({
      to: service(of),
      actions: ["sqs:SendMessage"],
      on: [queue?.arn ?? ""],
      if: { ArnEquals: { "aws:SourceArn": sources } },
    });
  return [
    letIn(
      "events",
      rules.map(({ arn }) => arn ?? ""),
    ),
    ...(topics.length > 0 ? [letIn("sns", topics)] : []),
  ];
}

type Document = { name: string; found: Statement[]; wanted: Statement[] };

/** A rule that compares documents whole: one word that is another opens them, or lets nobody in. */
const whole = (name: string, documents: (stack: Stack) => Document[]): Rule => ({
  name,
  check: (stack) =>
    unless(
      documents(stack),
      ({ found, wanted }) => isDeepStrictEqual(found, wanted),
      ({ name, found, wanted }) => `${name} has ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`,
    ),
});

export const documentRules: Rule[] = [
  whole("an endpoint's policy lets out what is expected, and nothing else", (stack) =>
    endpointsOf(stack).map(({ name, inputs }) => ({
      name,
      found: inputs.policy,
      wanted: expectedOf(stack, inputs.serviceName),
    })),
  ),
  whole("a role's trust is in one service, on no other conditions than expected", (stack) =>
    rolesOf(stack).map(({ name, inputs }) => ({
      name,
      found: inputs.assumeRolePolicy,
      wanted: [trustOf(name)],
    })),
  ),
  whole("a key is the account's, and of the one service that it is for", (stack) =>
    stack.all("aws:kms/key:Key").map(({ name, inputs }) => ({
      name,
      found: statementsOf(inputs.policy),
      wanted: keyPolicyOf(stack, name),
    })),
  ),
  whole("a queue's policy lets in its rules and topics, and nothing else", (stack) =>
    queuePoliciesOf(stack).map(({ name, inputs }) => ({
      name,
      found: inputs.policy,
      wanted: queuePolicyOf(stack, inputs.queueUrl),
    })),
  ),
];
