import type { Mistake } from "./mistake.ts";

export const iamMistakes: Mistake[] = [
  {
    name: "a wildcard action",
    edits: [["consumer.ts", '"sqs:ReceiveMessage"', '"sqs:*"']],
    rule: "no action is a wildcard",
  },
  {
    name: "a wildcard resource",
    edits: [["consumer.ts", "resources: [queue.arn]", 'resources: ["*"]']],
    rule: "no resource is a wildcard",
  },
  {
    name: "a link that grants sqs:*",
    edits: [
      [
        "defaults.ts",
        "sst.Linkable.wrap(sst.aws.Queue, ({ url, arn }) => ({ properties: { url, arn } }));",
        "sst.Linkable.wrap(sst.aws.Queue, ({ url, arn }) => ({ properties: { url, arn }, include: [sst.aws.permission({ actions: ['sqs:*'], resources: [arn] })] }));",
      ],
    ],
    rule: "no action is a wildcard",
  },
  {
    name: "the account's root trusted by every role",
    edits: [["defaults.ts", 'role.assumeRolePolicy = trustIn("lambda");', ""]],
    rule: "a role is taken on by one AWS service, and nobody else",
  },
  {
    name: "SST's managed policies back",
    edits: [["function.ts", "role.managedPolicyArns = [];", ""]],
    rule: "a role has no policy that somebody else writes",
  },
  {
    name: "a password in the environment",
    edits: [
      [
        "function.ts",
        "POWERTOOLS_METRICS_NAMESPACE: metricsNamespace,",
        'POWERTOOLS_METRICS_NAMESPACE: metricsNamespace,\n      PGPASSWORD: "correct-horse",',
      ],
    ],
    rule: "no password is in a function's environment",
  },
  {
    name: "a generated password under a harmless name",
    edits: [
      [
        "function.ts",
        "POWERTOOLS_METRICS_NAMESPACE: metricsNamespace,",
        "POWERTOOLS_METRICS_NAMESPACE: metricsNamespace,\n      LEDGER: new random.RandomPassword(title + 'Login', { length: 32 }).result,",
      ],
      [
        "function.ts",
        "import { copyFiles,",
        'import * as random from "@pulumi/random";\nimport { copyFiles,',
      ],
    ],
    rule: "no password is in a function's environment",
  },
];
