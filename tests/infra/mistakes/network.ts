import type { Mistake } from "./mistake.ts";

export const networkMistakes: Mistake[] = [
  {
    name: "an open bastion",
    settings: { network: { bastion: ["203.0.113.0/28"] } },
    edits: [["network.ts", "tcp(22, { cidrBlocks: bastion })", 'tcp(22, { cidrBlocks: ["0.0.0.0/0"] })']],
    rule: "nothing admits everybody",
  },
  {
    name: "no way to SES",
    edits: [["endpoints.ts", '"email", 2', '"email-smtp", 2']],
    rule: "functions reach every service that they call",
  },
  {
    name: "functions in public subnets",
    edits: [
      [
        "function.ts",
        "privateSubnets: network.vpc.privateSubnets",
        "privateSubnets: network.vpc.publicSubnets",
      ],
    ],
    rule: "functions run in private subnets of two zones",
  },
];
