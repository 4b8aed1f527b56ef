import { account } from "./computed.ts";
import type { CallArguments } from "./pulumi.ts";

type Statement = {
  sid?: string;
  effect?: string;
  actions?: string[];
  notActions?: string[];
  resources?: string[];
  notResources?: string[];
  principals?: { type: string; identifiers: string[] }[];
  conditions?: { test: string; variable: string; values: string[] }[];
};

/** What AWS would answer to a data source, by its token. */
export function answerCalls(region: string): (given: CallArguments) => Record<string, unknown> {
  const zones = ["a", "b", "c"].map((zone) => region + zone);
  const answers: Record<string, (inputs: Record<string, unknown>) => Record<string, unknown>> = {
    "aws:index/getRegion:getRegion": () => ({ id: region, name: region, region, description: region }),
    "aws:index/getPartition:getPartition": () => ({
      id: "aws",
      partition: "aws",
      dnsSuffix: "amazonaws.com",
      reverseDnsPrefix: "com.amazonaws",
    }),
    "aws:index/getCallerIdentity:getCallerIdentity": () => ({
      id: account,
      accountId: account,
      arn: `arn:aws:iam::${account}:user/deployer`,
      userId: "AIDAEXAMPLE",
    }),
    "aws:index/getAvailabilityZones:getAvailabilityZones": () => ({
      id: region,
      names: zones,
      zoneIds: zones,
    }),
    "aws:iam/getPolicyDocument:getPolicyDocument": (inputs) => {
      const statements = (inputs.statements ?? []) as Statement[];
      const json = policyJson(statements);
      // The provider leaves an empty list out, and SST's Function counts on that.
      const given = statements.length > 0 ? { statements } : {};
      return { id: "policy", json, minifiedJson: json, ...given };
    },
    "aws:ec2/getAmi:getAmi": () => ({
      id: "ami-0123456789",
      imageId: "ami-0123456789",
      architecture: "arm64",
    }),
    "aws:route53/getZone:getZone": ({ name }) => ({ id: "Z123", zoneId: "Z123", name }),
  };
  return ({ token, inputs }) => {
    const answer = answers[token];
    if (answer) return answer(inputs);
    const details = `the data source ${token} has no answer here; give it one in tests/infra/synth/calls.ts`;
    // Pulumi shows only the details of an error.
    throw Object.assign(new Error(details), { details, code: 2 });
  };
}

/** A policy document as the provider renders it: a list of one stands alone. */
function policyJson(statements: Statement[]): string {
  const one = (list: string[] | undefined) => (list?.length === 1 ? list[0] : list);
  return JSON.stringify({
    Version: "2012-10-17",
    Statement: statements.map((statement) => ({
      Sid: statement.sid,
      Effect: statement.effect ?? "Allow",
      Principal:
        statement.principals &&
        Object.fromEntries(statement.principals.map(({ type, identifiers }) => [type, one(identifiers)])),
      Action: one(statement.actions),
      NotAction: statement.notActions,
      Resource: one(statement.resources),
      NotResource: statement.notResources,
      Condition: conditions(statement.conditions ?? []),
    })),
  });
}

function conditions(given: NonNullable<Statement["conditions"]>): Record<string, object> | undefined {
  if (given.length === 0) return undefined;
  const tests: Record<string, Record<string, string[]>> = {};
  for (const { test, variable, values } of given) tests[test] = { ...tests[test], [variable]: values };
  return tests;
}
