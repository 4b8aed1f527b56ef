import * as v from "valibot";
import { policy, type Statement } from "./policy.ts";
import type { Seen, Stack } from "./stack.ts";

const text = v.string();
const number = v.number();
const flag = v.optional(v.boolean(), false);

const redrive = v.pipe(text, v.parseJson(), v.object({ deadLetterTargetArn: text, maxReceiveCount: number }));

const queue = v.object({
  name: text,
  fifoQueue: flag,
  contentBasedDeduplication: flag,
  deduplicationScope: v.optional(text),
  fifoThroughputLimit: v.optional(text),
  visibilityTimeoutSeconds: v.optional(number, 30),
  messageRetentionSeconds: v.optional(number, 4 * 24 * 60 * 60),
  receiveWaitTimeSeconds: v.optional(number, 0),
  delaySeconds: v.optional(number, 0),
  sqsManagedSseEnabled: flag,
  kmsMasterKeyId: v.optional(text),
  redrivePolicy: v.optional(redrive),
});
export type Queue = Seen<v.InferOutput<typeof queue>>;
export const queuesOf = (stack: Stack): Queue[] => stack.parsed("aws:sqs/queue:Queue", queue);

const eventSource = v.object({
  eventSourceArn: text,
  functionName: text,
  enabled: v.optional(v.boolean(), true),
  batchSize: v.optional(number, 10),
  maximumBatchingWindowInSeconds: v.optional(number, 0),
  functionResponseTypes: v.optional(v.array(text), []),
  scalingConfig: v.optional(v.object({ maximumConcurrency: number })),
});
export type EventSource = Seen<v.InferOutput<typeof eventSource>>;
export const eventSourcesOf = (stack: Stack): EventSource[] =>
  stack.parsed("aws:lambda/eventSourceMapping:EventSourceMapping", eventSource);

const lambda = v.object({
  name: text,
  role: text,
  timeout: number,
  memorySize: number,
  runtime: text,
  handler: text,
  architectures: v.array(text),
  environment: v.object({ variables: v.record(text, text) }),
  reservedConcurrentExecutions: v.optional(number),
  vpcConfig: v.optional(v.object({ subnetIds: v.array(text), securityGroupIds: v.array(text) })),
  loggingConfig: v.optional(v.object({ logFormat: text, logGroup: text })),
});
export type Lambda = Seen<v.InferOutput<typeof lambda>>;
export const lambdasOf = (stack: Stack): Lambda[] => stack.parsed("aws:lambda/function:Function", lambda);

/** A stage's function, such as `Sweep`. */
export const lambdaOf = (stack: Stack, title: string): Lambda | undefined =>
  lambdasOf(stack).find((lambda) => stack.topOf(lambda).name === title);

const role = v.object({
  name: text,
  assumeRolePolicy: policy,
  inlinePolicies: v.optional(v.array(v.object({ policy: policy })), []),
  managedPolicyArns: v.optional(v.array(text), []),
});
export type Role = Seen<v.InferOutput<typeof role>>;
export const rolesOf = (stack: Stack): Role[] => stack.parsed("aws:iam/role:Role", role);

export const permissionsOf = (given: Role): Statement[] =>
  given.inputs.inlinePolicies.flatMap(({ policy: statements }) => statements);

const schedule = v.object({
  name: text,
  scheduleExpression: text,
  state: v.optional(text, "ENABLED"),
  flexibleTimeWindow: v.object({ mode: text }),
  target: v.object({
    arn: text,
    roleArn: text,
    retryPolicy: v.optional(
      v.object({
        maximumRetryAttempts: v.optional(number, 185),
        maximumEventAgeInSeconds: v.optional(number, 86_400),
      }),
      {},
    ),
  }),
});
export type Schedule = Seen<v.InferOutput<typeof schedule>>;
export const schedulesOf = (stack: Stack): Schedule[] =>
  stack.parsed("aws:scheduler/schedule:Schedule", schedule);

const invokeConfig = v.object({
  functionName: text,
  maximumRetryAttempts: v.optional(number, 2),
  maximumEventAgeInSeconds: v.optional(number, 21_600),
});
export const invokeConfigsOf = (stack: Stack): Seen<v.InferOutput<typeof invokeConfig>>[] =>
  stack.parsed("aws:lambda/functionEventInvokeConfig:FunctionEventInvokeConfig", invokeConfig);

const database = v.object({
  identifier: text,
  engineVersion: text,
  instanceClass: text,
  /** A restored one has it from the backup. */
  allocatedStorage: v.optional(number, 0),
  maxAllocatedStorage: v.optional(number, 0),
  storageEncrypted: flag,
  publiclyAccessible: flag,
  iamDatabaseAuthenticationEnabled: flag,
  deletionProtection: flag,
  skipFinalSnapshot: flag,
  finalSnapshotIdentifier: v.optional(text),
  backupRetentionPeriod: v.optional(number, 0),
  allowMajorVersionUpgrade: flag,
  applyImmediately: flag,
  multiAz: flag,
  caCertIdentifier: v.optional(text),
  parameterGroupName: text,
  vpcSecurityGroupIds: v.optional(v.array(text), []),
  restoreToPointInTime: v.optional(
    v.object({ sourceDbInstanceIdentifier: v.optional(text), restoreTime: v.optional(text) }),
  ),
});
export type Database = Seen<v.InferOutput<typeof database>>;
export const databasesOf = (stack: Stack): Database[] => stack.parsed("aws:rds/instance:Instance", database);

/** What the program calls the instances: the first, and one for each time that it was put back. */
export const databaseNames = (stack: Stack): string[] => [
  "DatabaseInstance",
  ...stack.settings.database.restores.map((_, place) => `DatabaseInstance${place + 2}`),
];

/** The instance that everything must use: the one that was put back last. */
export const usedDatabase = (stack: Stack): Database | undefined =>
  databasesOf(stack).find(({ name }) => name === databaseNames(stack).at(-1));

const parameterGroup = v.object({
  name: text,
  family: text,
  parameters: v.array(v.object({ name: text, value: text, applyMethod: v.optional(text, "immediate") })),
});
export type ParameterGroup = Seen<v.InferOutput<typeof parameterGroup>>;
export const parameterGroupsOf = (stack: Stack): ParameterGroup[] =>
  stack.parsed("aws:rds/parameterGroup:ParameterGroup", parameterGroup);

const query = v.object({
  id: text,
  expression: v.optional(text),
  returnData: v.optional(v.boolean(), false),
  metric: v.optional(
    v.object({
      namespace: text,
      metricName: text,
      dimensions: v.optional(v.record(text, text), {}),
      stat: text,
      period: number,
    }),
  ),
});

const alarm = v.object({
  name: v.optional(text),
  alarmDescription: v.optional(text, ""),
  namespace: v.optional(text),
  metricName: v.optional(text),
  dimensions: v.optional(v.record(text, text), {}),
  statistic: v.optional(text),
  period: v.optional(number),
  evaluationPeriods: number,
  datapointsToAlarm: v.optional(number),
  threshold: v.optional(number),
  comparisonOperator: text,
  treatMissingData: v.optional(text, "missing"),
  alarmActions: v.optional(v.array(text), []),
  metricQueries: v.optional(v.array(query), []),
});
export type Alarm = Seen<v.InferOutput<typeof alarm>>;
export const alarmsOf = (stack: Stack): Alarm[] =>
  stack.parsed("aws:cloudwatch/metricAlarm:MetricAlarm", alarm);

const rule = v.object({
  name: text,
  eventBusName: v.optional(text, "default"),
  eventPattern: v.optional(text),
  state: v.optional(text, "ENABLED"),
});
export type EventRule = Seen<v.InferOutput<typeof rule>>;
export const eventRulesOf = (stack: Stack): EventRule[] =>
  stack.parsed("aws:cloudwatch/eventRule:EventRule", rule);

const target = v.object({ rule: text, arn: text, eventBusName: v.optional(text, "default") });
export const eventTargetsOf = (stack: Stack): Seen<v.InferOutput<typeof target>>[] =>
  stack.parsed("aws:cloudwatch/eventTarget:EventTarget", target);

const queuePolicy = v.object({ queueUrl: text, policy: policy });
export const queuePoliciesOf = (stack: Stack): Seen<v.InferOutput<typeof queuePolicy>>[] =>
  stack.parsed("aws:sqs/queuePolicy:QueuePolicy", queuePolicy);

const redriveAllow = v.object({
  queueUrl: text,
  redriveAllowPolicy: v.pipe(
    text,
    v.parseJson(),
    v.object({ redrivePermission: text, sourceQueueArns: v.optional(v.array(text), []) }),
  ),
});
export const redriveAllowPoliciesOf = (stack: Stack): Seen<v.InferOutput<typeof redriveAllow>>[] =>
  stack.parsed("aws:sqs/redriveAllowPolicy:RedriveAllowPolicy", redriveAllow);
