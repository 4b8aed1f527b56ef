import { copyFiles, handlerOf, nodejs, type Stage } from "./bundle.ts";
import { network } from "./network.ts";
import { arnOf, metricsNamespace, prefix, settings } from "./stage.ts";

export type Permission = {
  actions: string[];
  resources: $util.Input<string>[];
  effect?: "allow" | "deny";
  conditions?: { test: string; variable: string; values: $util.Input<string>[] }[];
};

export type FunctionOptions = {
  /** Seconds. */
  timeout: number;
  /**
   * Values, and no secrets but the webhooks' key: SST encrypts them with a key that stands in the environment beside
   * them, so whoever may read a function's code and configuration reads them too.
   */
  link: unknown[];
  permissions: Permission[];
  environment?: Record<string, $util.Input<string>>;
  /** Besides the one that all functions are in. */
  securityGroups?: $util.Input<string>[];
  /** What is otherwise than here. */
  more?: Partial<sst.aws.FunctionArgs>;
};

/**
 * A function with a role of its own, which may do what `permissions` say, write to its own log, and be in the network.
 * SST would attach two managed policies for the latter two, that name every log and hand the function's code the network
 * interfaces of the account.
 */
export function createFunction(stage: Stage, options: FunctionOptions): sst.aws.Function {
  const title = stage.replace(/^./, (letter) => letter.toUpperCase());
  const name = `${prefix}-${stage}`;
  const log = new aws.cloudwatch.LogGroup(`${title}Log`, {
    name: `/aws/lambda/${name}`,
    retentionInDays: settings.logDays,
  });
  return new sst.aws.Function(title, {
    name,
    handler: handlerOf(stage),
    timeout: `${options.timeout} seconds`,
    nodejs,
    copyFiles: copyFiles(stage),
    logging: { format: "json", logGroup: log.name },
    link: options.link,
    permissions: [
      { actions: ["logs:CreateLogStream", "logs:PutLogEvents"], resources: [$interpolate`${log.arn}:*`] },
      ...(network ? inNetwork(name) : []),
      ...options.permissions,
    ],
    environment: {
      POWERTOOLS_METRICS_NAMESPACE: metricsNamespace,
      // Beside the bundle; a developer's machine has neither the file nor RDS.
      ...($dev ? {} : { NODE_EXTRA_CA_CERTS: "/var/task/rds-ca.pem" }),
      ...options.environment,
    },
    ...(network && {
      vpc: {
        privateSubnets: network.vpc.privateSubnets,
        securityGroups: [network.functions.id, ...(options.securityGroups ?? [])],
      },
    }),
    ...options.more,
    transform: {
      ...options.more?.transform,
      role: (role) => {
        role.managedPolicyArns = [];
      },
    },
  });
}

const interfaces = [
  "ec2:CreateNetworkInterface",
  "ec2:DescribeNetworkInterfaces",
  "ec2:DescribeSubnets",
  "ec2:DeleteNetworkInterface",
  "ec2:AssignPrivateIpAddresses",
  "ec2:UnassignPrivateIpAddresses",
];

/**
 * Lambda makes the function's network interfaces with the function's own role, and names none of them beforehand: the
 * one permission here without a resource. The code that runs under the role is denied it (AWS Lambda developer guide,
 * "Giving Lambda functions access to resources in an Amazon VPC").
 */
const inNetwork = (name: string): Permission[] => [
  { actions: interfaces, resources: ["*"] },
  {
    effect: "deny",
    actions: interfaces,
    resources: ["*"],
    conditions: [
      {
        test: "ArnEquals",
        variable: "lambda:SourceFunctionArn",
        values: [arnOf("lambda", `function:${name}`)],
      },
    ],
  },
];
