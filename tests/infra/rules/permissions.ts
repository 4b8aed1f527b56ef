import { type Statement, statementsOf } from "../stack/policy.ts";
import type { Stack } from "../stack/stack.ts";
import { usedDatabase } from "../stack/views.ts";
import type { Resource } from "../synth/synthesis.ts";
import { senderOf } from "./sms.ts";

/** What is allowed, and on what: `sqs:SendMessage on NotificationQueue`. */
export type Allowed = string;

const on = (name: string, actions: readonly string[]): Allowed[] =>
  actions.map((action) => `${action} on ${name}`);

const consume = [
  "sqs:ReceiveMessage",
  "sqs:DeleteMessage",
  "sqs:ChangeMessageVisibility",
  "sqs:GetQueueAttributes",
];

/** What Lambda needs to give a function its place in the network, and the one permission without a resource. */
export const networkInterfaces = [
  "ec2:AssignPrivateIpAddresses",
  "ec2:CreateNetworkInterface",
  "ec2:DeleteNetworkInterface",
  "ec2:DescribeNetworkInterfaces",
  "ec2:DescribeSubnets",
  "ec2:UnassignPrivateIpAddresses",
];

/** What SST's bridge needs, which runs in a function's place under `sst dev`. */
export const bridge = ["appsync:EventConnect", "appsync:EventPublish", "appsync:EventSubscribe"];

/** Each function's own log and network interfaces: Lambda's doing, which the function's code is denied. */
function ofEach(stack: Stack, title: string): Allowed[] {
  const log = on(`${title}Log`, ["logs:CreateLogStream", "logs:PutLogEvents"]);
  if (stack.dev) return [...log, ...on("AppSync's APIs", bridge)];
  return [
    ...log,
    ...on("*", networkInterfaces),
    ...networkInterfaces.map(
      (action) => `never ${action} on * if ArnEquals lambda:SourceFunctionArn ${title}`,
    ),
  ];
}

/** A developer's database knows no IAM. */
const connect = (stack: Stack, role: string): Allowed[] =>
  stack.dev ? [] : [`rds-db:connect on Database as owed_${role}`];

/** By function, all that it may do, and by `Operator` and `Platform` what an operator and the platform may. */
export function expectedPermissions(stack: Stack): Record<string, Allowed[]> {
  const { from, sandbox } = stack.settings.email;
  const address = from.replace(/^.*<|>$/g, "");
  // In SES's sandbox IAM is asked for the recipients' identities too.
  const identity = sandbox ? "SES's identities" : "EmailIdentity";
  const functions: Record<string, Allowed[]> = {
    Migrate: [
      ...on("MasterSecret", ["secretsmanager:GetSecretValue"]),
      "rds-db:connect on Database as postgres",
    ],
    Ingest: [
      ...on("EventQueue", consume),
      ...on("NotificationQueue", ["sqs:SendMessage"]),
      ...connect(stack, "ingest"),
    ],
    Sweep: [
      ...on("NotificationQueue", ["sqs:SendMessage", "sqs:GetQueueAttributes"]),
      ...on("FeedbackQueue", ["sqs:GetQueueAttributes"]),
      ...on("ShadowQueue", stack.settings.shadowQueue ? ["sqs:SendMessage"] : []),
      "ses:GetSendQuota on *",
      ...connect(stack, "sweep"),
    ],
    Deliver: [
      ...on("NotificationQueue", consume),
      ...[identity, "EmailConfigurationSet"].map(
        (name) => `ses:SendEmail on ${name} if StringEquals ses:FromAddress ${address}`,
      ),
      ...(stack.settings.sms
        ? [stack.settings.sms.number ? "SmsNumber" : senderOf(stack), "SmsConfigurationSet"].flatMap((name) =>
            on(name, ["sms-voice:SendTextMessage"]),
          )
        : []),
      ...connect(stack, "deliver"),
    ],
    Feedback: [...on("FeedbackQueue", consume), ...connect(stack, "feedback")],
  };
  const whole = Object.entries(functions).map(([title, own]) => [title, [...ofEach(stack, title), ...own]]);
  const platform = ["events:PutEvents on EventBus", ...connect(stack, "platform")];
  return { ...Object.fromEntries(whole), Operator: ofOperator(stack), Platform: platform };
}

const stages = ["Event", "Notification", "Feedback"];

/** What the console's redrive needs (Amazon SQS API permissions reference), the ledger, and a pause of the schedule. */
function ofOperator(stack: Stack): Allowed[] {
  const shadow = stack.settings.shadowQueue ? ["ShadowQueue"] : [];
  const queues = [...stages.map((name) => `${name}Queue`), ...shadow];
  const deadLetters = [...stages.map((name) => `${name}Dlq`), ...shadow];
  const see = ["GetQueueUrl", "GetQueueAttributes", "ListDeadLetterSourceQueues", "ListQueueTags"];
  const move = [
    ...["StartMessageMoveTask", "ListMessageMoveTasks", "CancelMessageMoveTask"],
    ...["ReceiveMessage", "ChangeMessageVisibility", "DeleteMessage"],
  ];
  const sqs = (actions: string[]) => actions.map((action) => `sqs:${action}`);
  return [
    "sqs:ListQueues on *",
    ...[...new Set([...queues, ...deadLetters])].flatMap((name) => on(name, sqs(see))),
    ...deadLetters.flatMap((name) => on(name, sqs(move))),
    ...queues.flatMap((name) => on(name, ["sqs:SendMessage"])),
    "ses:GetSendQuota on *",
    ...connect(stack, "operator"),
    ...connect(stack, "reader"),
    ...on("*", ["scheduler:ListSchedules", "scheduler:ListScheduleGroups"]),
    "scheduler:GetScheduleGroup on the default group",
    ...on("SweepSchedule", ["scheduler:GetSchedule", "scheduler:UpdateSchedule"]),
    "iam:PassRole on SweepScheduleRole if StringEquals iam:PassedToService scheduler.amazonaws.com",
  ];
}

/** Statements as sentences, each ARN by the name of what it belongs to. */
export const readable = (stack: Stack, statements: readonly Statement[]): Allowed[] =>
  statements.flatMap(({ Effect, Action, Resource, Condition }) =>
    Action.flatMap((action) =>
      Resource.map((arn) =>
        [
          Effect === "Deny" ? "never" : [],
          action,
          "on",
          nameOf(stack, arn),
          ...conditionsOf(stack, Condition),
        ]
          .flat()
          .join(" "),
      ),
    ),
  );

const conditionsOf = (stack: Stack, condition: Statement["Condition"]): string[] =>
  Object.entries(condition).flatMap(([test, variables]) =>
    Object.entries(variables).map(
      ([variable, values]) =>
        `if ${test} ${variable} ${values.map((value) => nameOf(stack, value)).join(", ")}`,
    ),
  );

function nameOf(stack: Stack, arn: string): string {
  const [, , service, , , ...rest] = arn.split(":");
  const name = rest.join(":");
  if (service === "appsync" && name === "apis/*") return "AppSync's APIs";
  if (service === "ses" && name === "identity/*") return "SES's identities";
  if (service === "scheduler" && name === "schedule-group/default") return "the default group";
  const database = usedDatabase(stack);
  if (service === "rds-db" && database && name.startsWith(`dbuser:db-${database.name.toUpperCase()}/`)) {
    return `Database as ${name.split("/").at(-1)}`;
  }
  if (service === "secretsmanager" && name.startsWith(`secret:rds!db-${database?.name}-`))
    return "MasterSecret";
  if (service === "scheduler" && name.startsWith("schedule/default/")) {
    const schedule = stack
      .all("aws:scheduler/schedule:Schedule")
      .find(({ inputs }) => name.endsWith(`/${inputs.name}`));
    if (schedule) return stack.topOf(schedule).name;
  }
  // A log's streams are `<log>:*`.
  const resource =
    stack.byArn(arn) ?? (service === "logs" ? stack.byArn(arn.replace(/:\*$/, "")) : undefined);
  if (!resource) return arn;
  return resource.type === "aws:iam/role:Role" ? resource.name : stack.topOf(resource).name;
}

/** The statements of a policy that stands by itself. */
export const statementsIn = ({ inputs }: Resource): Statement[] => statementsOf(inputs.policy);
