import { timeouts } from "@owed/functions/parse-settings";
import { eventSourcesOf, lambdaOf, lambdasOf } from "../stack/views.ts";
import { type Rule, unless } from "./rule.ts";

const stages = ["Migrate", "Ingest", "Sweep", "Deliver", "Feedback"] as const;

/** Bytes of a bundle at most: a cold start reads all of it. */
const mostBytes = 1_500_000;

const titleOf = (stage: string): string => stage.charAt(0).toUpperCase() + stage.slice(1);

/** AWS Lambda developer guide, "Quotas", "Runtimes", "Environment variables". */
export const functionRules: Rule[] = [
  {
    name: "each stage has its function, with its own handler",
    check: (stack) => {
      const wanted = stages.filter((stage) => stage !== "Migrate" || !stack.dev);
      const found = stack.functions.map(({ handler }) => handler).toSorted();
      const handlers = wanted.map((stage) => `packages/functions/src/${stage.toLowerCase()}/handler.handler`);
      return [
        ...handlers.filter((one) => !found.includes(one)).map((one) => `no function has the handler ${one}`),
        ...found.filter((one) => !handlers.includes(one)).map((one) => `a function has the handler ${one}`),
        ...(found.length === new Set(found).size ? [] : ["two functions have one handler"]),
      ];
    },
  },
  {
    name: "a function runs on Node 24 and arm64",
    check: (stack) =>
      unless(
        stack.dev ? [] : lambdasOf(stack),
        ({ inputs }) => inputs.runtime === "nodejs24.x" && inputs.architectures.join() === "arm64",
        ({ name, inputs }) => `${name} runs on ${inputs.runtime}, ${inputs.architectures.join()}`,
      ),
  },
  {
    name: "a function's timeout is what its code counts on",
    check: (stack) =>
      Object.entries(timeouts).flatMap(([stage, seconds]) =>
        unless(
          [lambdaOf(stack, titleOf(stage)) ?? []].flat(),
          ({ inputs }) => inputs.timeout === seconds,
          ({ name, inputs }) => `${name} is ended after ${inputs.timeout} s, not ${seconds}`,
        ),
      ),
  },
  {
    name: "a function is within Lambda's limits",
    check: (stack) =>
      lambdasOf(stack).flatMap(({ name, inputs }) => {
        const { variables } = inputs.environment;
        const bytes = Buffer.byteLength(JSON.stringify(variables));
        return [
          ...(inputs.timeout >= 1 && inputs.timeout <= 900
            ? []
            : [`${name} has a timeout of ${inputs.timeout} s`]),
          ...(inputs.memorySize >= 128 && inputs.memorySize <= 10_240
            ? []
            : [`${name} has ${inputs.memorySize} MB`]),
          ...(bytes < 4096 ? [] : [`${name} has ${bytes} bytes of environment, and Lambda takes 4096`]),
          ...Object.keys(variables)
            .filter((variable) => !/^[a-zA-Z]\w+$/.test(variable) || reserved.has(variable))
            .map((variable) => `${name} can't have the variable ${variable}`),
        ];
      }),
  },
  {
    name: "a function trusts RDS's certificates, and has them with it",
    check: (stack) =>
      stack.dev
        ? []
        : [
            ...unless(
              lambdasOf(stack),
              ({ inputs }) => inputs.environment.variables.NODE_EXTRA_CA_CERTS === "/var/task/rds-ca.pem",
              ({ name }) => `${name} does not know RDS's CAs: NODE_EXTRA_CA_CERTS`,
            ),
            ...unless(
              stack.functions,
              ({ copyFiles }) => copyFiles.includes("rds-ca.pem"),
              ({ id }) => `${id} has no rds-ca.pem beside it`,
            ),
            ...unless(
              stack.functions.filter(({ handler }) => handler.includes("/migrate/")),
              ({ copyFiles }) => copyFiles.includes("migrations"),
              ({ id }) => `${id} has no migrations beside it`,
            ),
          ],
  },
  {
    name: "a function's bundle is small",
    check: (stack) =>
      unless(
        stack.functions,
        ({ bytes }) => bytes === null || bytes < mostBytes,
        ({ id, bytes }) => `${id} has ${bytes} bytes, and may have ${mostBytes}`,
      ),
  },
  {
    name: "a function's log is kept as long as the settings say, as JSON",
    check: (stack) => {
      const groups = new Map(
        stack
          .all("aws:cloudwatch/logGroup:LogGroup")
          .map(({ inputs }) => [inputs.name, inputs.retentionInDays]),
      );
      return unless(
        stack.dev ? [] : lambdasOf(stack),
        ({ inputs: { loggingConfig } }) =>
          loggingConfig?.logFormat === "JSON" &&
          groups.get(loggingConfig.logGroup) === stack.settings.logDays,
        ({ name, inputs: { loggingConfig } }) =>
          `${name} logs ${loggingConfig?.logFormat}, kept for ${groups.get(loggingConfig?.logGroup)} days`,
      );
    },
  },
  {
    name: "only an event source or the schedule starts a function: none has a URL",
    check: (stack) => [
      ...stack.all("aws:lambda/functionUrl:FunctionUrl").map(({ name }) => `${name} is open to the internet`),
      ...unless(
        stack.all("aws:lambda/permission:Permission"),
        ({ inputs }) => inputs.principal !== "*" && typeof inputs.sourceArn === "string",
        ({ name }) => `${name} lets anybody of a service start a function: it names no sourceArn`,
      ),
    ],
  },
  {
    name: "no function that a queue feeds has reserved concurrency: throttling spends receives",
    check: (stack) =>
      eventSourcesOf(stack).flatMap(({ inputs }) =>
        lambdasOf(stack)
          .filter(
            ({ arn, inputs: lambda }) => arn === inputs.functionName && lambda.reservedConcurrentExecutions,
          )
          .map(({ name }) => `${name} has reserved concurrency`),
      ),
  },
];

/** Lambda sets these itself. */
const reserved = new Set([
  "AWS_REGION",
  "AWS_DEFAULT_REGION",
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "AWS_LAMBDA_FUNCTION_NAME",
  "LAMBDA_TASK_ROOT",
  "LAMBDA_RUNTIME_DIR",
]);
