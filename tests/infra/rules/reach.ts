import { isDeepStrictEqual } from "node:util";
import * as v from "valibot";
import { admits, endpointsOf } from "../stack/network.ts";
import type { Statement } from "../stack/policy.ts";
import { idOf, type Stack } from "../stack/stack.ts";
import { databasesOf, type Lambda, lambdasOf, permissionsOf, rolesOf, usedDatabase } from "../stack/views.ts";
import { account } from "../synth/computed.ts";
import { type Rule, unless } from "./rule.ts";

const list = v.optional(v.array(v.string()), []);
const wayOut = v.object({
  protocol: v.string(),
  fromPort: v.number(),
  toPort: v.number(),
  cidrBlocks: list,
  ipv6CidrBlocks: list,
  securityGroups: list,
  self: v.optional(v.boolean(), false),
});
const group = v.object({ egress: v.optional(v.array(wayOut), []) });

/** The ways out of a function, by its security groups. */
const waysOutOf = (stack: Stack, { inputs: { vpcConfig } }: Lambda): v.InferOutput<typeof wayOut>[] =>
  stack
    .parsed("aws:ec2/securityGroup:SecurityGroup", group)
    .filter(({ name }) => vpcConfig?.securityGroupIds.includes(idOf(name)))
    .flatMap(({ inputs }) => inputs.egress);

type Server = { name: string; port: number; most?: number; groups: string[] };

/** Every port that a merchant's inbox may have, but for 443 (packages/channel/src/webhook/address.ts). */
const inboxes = { name: "merchants' inboxes", port: 1024, most: 65_535, groups: [] };

/** Who a function calls: the database, and AWS by its endpoints; by NAT it is anybody, and deliver calls inboxes. */
const serversOf = (stack: Stack, lambda: Lambda): Server[] => [
  ...databasesOf(stack).map(({ name, inputs }) => ({
    name,
    port: linksOf(stack)[0]?.link.port ?? 5432,
    groups: inputs.vpcSecurityGroupIds,
  })),
  ...endpointsOf(stack).map(({ name, inputs }) => ({ name, port: 443, groups: inputs.securityGroupIds })),
  ...(stack.settings.network.nat ? [{ name: "the internet", port: 443, groups: [] }] : []),
  ...(stack.settings.webhooks && stack.topOf(lambda).name === "Deliver" ? [inboxes] : []),
];

const link = v.object({
  host: v.string(),
  port: v.number(),
  database: v.string(),
  tls: v.string(),
  auth: v.string(),
  region: v.optional(v.string()),
});

/** What each function is told of the database. */
const linksOf = (stack: Stack) =>
  stack.functions.map(({ id, links }) => ({ id, link: v.parse(link, links.Database) }));

/** Does a pattern of IAM's, with `*` for any text, take this? */
const fits = (pattern: string, value: string): boolean =>
  new RegExp(`^${pattern.replace(/[^\w*]/g, "\\$&").replaceAll("*", ".*")}$`).test(value);

/** Is a call of this account let out? */
const letsOut = (
  { Effect, Principal, Action, Resource, Condition }: Statement,
  action: string,
  on: string,
): boolean =>
  Effect === "Allow" &&
  (Principal === "*" || Principal?.AWS?.includes("*") === true) &&
  Action.includes(action) &&
  Resource.some((pattern) => fits(pattern, on)) &&
  Object.values(Condition).every((keys) =>
    Object.entries(keys).every(([key, values]) => key === "aws:PrincipalAccount" && values.includes(account)),
  );

/** An endpoint's service, by what IAM calls it. */
const endpointOf: Record<string, string> = {
  sqs: "sqs",
  ses: "email",
  "sms-voice": "pinpoint-sms-voice-v2",
  secretsmanager: "secretsmanager",
};

/** Lambda's pollers do this in a function's name, from outside of its network. */
const byLambda = new Set(["sqs:ReceiveMessage", "sqs:DeleteMessage"]);

export const reachRules: Rule[] = [
  {
    name: "an endpoint lets each function do what its role allows it",
    check: (stack) =>
      lambdasOf(stack).flatMap((lambda) => {
        const calls = rolesOf(stack)
          .filter(({ arn }) => arn === lambda.inputs.role)
          .flatMap(permissionsOf)
          .filter(({ Effect }) => Effect === "Allow")
          .flatMap(({ Action, Resource }) =>
            Action.flatMap((action) => Resource.map((on) => ({ action, on }))),
          )
          .filter(({ action }) => !byLambda.has(action));
        return calls.flatMap(({ action, on }) => {
          const service = endpointOf[action.split(":")[0] ?? ""];
          return endpointsOf(stack)
            .filter(({ inputs }) => service !== undefined && inputs.serviceName.endsWith(`.${service}`))
            .filter(({ inputs }) => !inputs.policy.some((statement) => letsOut(statement, action, on)))
            .map(({ name }) => `${name} does not let ${lambda.name} out to ${action} on ${on}`);
        });
      }),
  },
  {
    name: "functions may leave for the database and the endpoints, deliver for inboxes, and on no other port",
    check: (stack) => {
      const [inside] = stack.all("aws:ec2/vpc:Vpc").map(({ inputs }) => inputs.cidrBlock);
      const isPublic = ({ name }: Server) => name === "the internet" || name === inboxes.name;
      const leads = (way: v.InferOutput<typeof wayOut>, server: Server): boolean =>
        admits(way, server.port) &&
        admits(way, server.most ?? server.port) &&
        (way.cidrBlocks.some((cidr) => cidr === "0.0.0.0/0" || (cidr === inside && !isPublic(server))) ||
          way.securityGroups.some((one) => server.groups.includes(one)));
      return (stack.dev ? [] : lambdasOf(stack)).flatMap((lambda) => {
        const ways = waysOutOf(stack, lambda);
        const servers = serversOf(stack, lambda);
        return [
          ...unless(
            servers,
            (server) => ways.some((way) => leads(way, server)),
            ({ name, port }) => `${lambda.name} may not leave for ${name} on port ${port}`,
          ),
          ...unless(
            ways,
            ({ fromPort, toPort }) =>
              servers.some(({ port, most = port }) => port === fromPort && most === toPort),
            ({ fromPort, toPort }) => `${lambda.name} may leave on the ports ${fromPort} to ${toPort}`,
          ),
        ];
      });
    },
  },
  {
    name: "functions are told of this stage's database, in its region, by IAM over TLS",
    check: (stack) => {
      const used = usedDatabase(stack);
      if (!used) return [];
      // One that was put back has its database's name from the backup.
      const [database] = stack.all("aws:rds/instance:Instance").flatMap(({ inputs }) => inputs.dbName ?? []);
      const wanted = { port: 5432, database, tls: "verify", auth: "iam", region: stack.app.region };
      return unless(
        linksOf(stack),
        ({ link: { host, ...told } }) =>
          host.startsWith(`${used.inputs.identifier}.`) && isDeepStrictEqual(told, wanted),
        ({ id, link: told }) => `${id} is told of ${JSON.stringify(told)}`,
      );
    },
  },
];
