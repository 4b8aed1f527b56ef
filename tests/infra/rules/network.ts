import { admits, endpointsOf, subnetsOf, waysInOf } from "../stack/network.ts";
import { idOf, type Stack } from "../stack/stack.ts";
import { databasesOf, lambdasOf, permissionsOf, rolesOf } from "../stack/views.ts";
import { type Rule, unless } from "./rule.ts";

const gateways = (stack: Stack) => [
  ...stack.all("aws:ec2/natGateway:NatGateway"),
  ...stack.all("aws:ec2/instance:Instance").filter(({ name }) => name.includes("NatInstance")),
];

const bastions = (stack: Stack) =>
  stack.all("aws:ec2/instance:Instance").filter(({ name }) => name.includes("Bastion"));

/** The endpoint of each service that the functions call (AWS PrivateLink guide, "Services that integrate"). */
const endpointOf: Record<string, string> = {
  sqs: "sqs",
  ses: "email",
  "sms-voice": "pinpoint-sms-voice-v2",
  secretsmanager: "secretsmanager",
};

/** What is wrong with where something is. */
function notPrivate(stack: Stack, name: string, ids: string[]): string[] {
  const subnets = subnetsOf(stack).filter(({ id }) => ids.includes(id));
  return [
    ...(new Set(subnets.map(({ zone }) => zone)).size >= 2 ? [] : [`${name} is in fewer than two zones`]),
    ...subnets.filter(({ isPublic }) => isPublic).map((subnet) => `${name} is in the public ${subnet.name}`),
  ];
}

export const networkRules: Rule[] = [
  {
    name: "nothing admits everybody",
    check: (stack) =>
      unless(
        waysInOf(stack),
        ({ rule }) => [...rule.cidrBlocks, ...rule.ipv6CidrBlocks].every((cidr) => !/\/0$/.test(cidr)),
        ({ name, rule }) => `${name} admits everybody to the ports ${rule.fromPort} to ${rule.toPort}`,
      ),
  },
  {
    name: "the bastion is there for the named networks alone",
    check: (stack) => {
      const { bastion } = stack.settings.network;
      const found = bastions(stack);
      const wanted = bastion.length > 0 && !stack.dev;
      if (!wanted) return found.map(({ name }) => `${name} is there, and nobody asked for it`);
      if (found.length === 0) return ["there is no bastion, and the settings name networks for one"];
      const ways = waysInOf(stack).filter(({ name }) => name.includes("Bastion"));
      const cidrs = ways.flatMap(({ rule }) => rule.cidrBlocks);
      return [
        ...unless(
          ways,
          ({ rule }) => rule.fromPort === 22 && rule.toPort === 22 && rule.protocol === "tcp",
          ({ name }) => `${name} admits more than SSH`,
        ),
        ...(cidrs.toSorted().join() === bastion.toSorted().join()
          ? []
          : [`the bastion admits ${cidrs.join(", ") || "nobody"}, not ${bastion.join(", ")}`]),
      ];
    },
  },
  {
    name: "the database lets in the functions, the bastion and its named clients, and nobody else",
    check: (stack) => {
      const { securityGroups, networks } = stack.settings.database.clients;
      const groupsOf = lambdasOf(stack).map(({ inputs }) => inputs.vpcConfig?.securityGroupIds ?? []);
      // The group that all functions are in: deliver's own one for webhooks lets nobody in anywhere.
      const functions = (groupsOf[0] ?? []).filter((one) => groupsOf.every((its) => its.includes(one)));
      const bastion = stack.settings.network.bastion.length > 0 ? [idOf("VpcBastionSecurityGroup")] : [];
      const wanted = new Set([...functions, ...bastion, ...securityGroups, ...networks]);
      const groups = databasesOf(stack).flatMap(({ inputs }) => inputs.vpcSecurityGroupIds);
      const ways = waysInOf(stack).filter(({ group }) => groups.includes(group));
      const found = new Set(
        ways.flatMap(({ rule }) => [...rule.securityGroups, ...rule.cidrBlocks, ...rule.ipv6CidrBlocks]),
      );
      return groups.length === 0
        ? []
        : [
            ...unless(
              ways,
              ({ rule }) => rule.fromPort === 5432 && rule.toPort === 5432 && rule.protocol === "tcp",
              ({ name }) => `${name} opens more than PostgreSQL's port`,
            ),
            ...[...wanted]
              .filter((one) => !found.has(one))
              .map((one) => `the database does not let ${one} in`),
            ...[...found].filter((one) => !wanted.has(one)).map((one) => `the database lets ${one} in`),
          ];
    },
  },
  {
    name: "NAT is there when the settings ask for it, in each zone, and not otherwise",
    check: (stack) => {
      const wanted = stack.settings.network.nat && !stack.dev;
      const zones = new Set(subnetsOf(stack).map(({ zone }) => zone)).size;
      const found = gateways(stack).length;
      return found === (wanted ? zones : 0) ? [] : [`there are ${found} NAT gateways in ${zones} zones`];
    },
  },
  {
    name: "functions run in private subnets of two zones",
    check: (stack) =>
      lambdasOf(stack).flatMap(({ name, inputs: { vpcConfig } }) => {
        if (stack.dev) return vpcConfig ? [`${name} is in a VPC, which costs and is of no use in dev`] : [];
        return notPrivate(stack, name, vpcConfig?.subnetIds ?? []);
      }),
  },
  {
    name: "the database is in private subnets of two zones",
    check: (stack) =>
      stack
        .all("aws:rds/subnetGroup:SubnetGroup")
        .flatMap(({ name, inputs }) => notPrivate(stack, name, inputs.subnetIds as string[])),
  },
  {
    name: "functions reach every service that they call",
    check: (stack) => {
      if (stack.dev || stack.settings.network.nat) return [];
      const services = new Set(
        rolesOf(stack)
          .filter((role) => lambdasOf(stack).some(({ inputs }) => inputs.role === role.arn))
          .flatMap(permissionsOf)
          .flatMap(({ Action }) => Action.map((action) => action.split(":")[0] ?? "")),
      );
      return [...services].flatMap((service) => {
        const endpoint = endpointOf[service];
        if (!endpoint) return [];
        const found = endpointsOf(stack).find(({ inputs }) =>
          inputs.serviceName.endsWith(`.${stack.app.region}.${endpoint}`),
        );
        if (!found)
          return [`there is neither NAT nor an endpoint for ${endpoint}: calls to ${service} time out`];
        const { privateDnsEnabled, vpcEndpointType, subnetIds } = found.inputs;
        // A deployment can wait for a zone, what runs each minute can't.
        const zones = service === "secretsmanager" ? 1 : 2;
        return vpcEndpointType === "Interface" && privateDnsEnabled && subnetIds.length >= zones
          ? []
          : [`${found.name} is no interface endpoint with private DNS in ${zones} zones`];
      });
    },
  },
  {
    name: "functions are let in to the endpoints and to the database",
    check: (stack) => {
      const clients = new Set(
        lambdasOf(stack).flatMap(({ inputs }) => inputs.vpcConfig?.securityGroupIds ?? []),
      );
      const servers = [
        ...endpointsOf(stack).map(({ name, inputs }) => ({
          name,
          groups: inputs.securityGroupIds,
          port: 443,
        })),
        ...databasesOf(stack).map(({ name, inputs }) => ({
          name,
          groups: inputs.vpcSecurityGroupIds,
          port: 5432,
        })),
      ];
      return servers.flatMap(({ name, groups, port }) => {
        // Without a group of its own it has the VPC's default one.
        const ways = waysInOf(stack).filter(({ group, name: way }) =>
          groups.length > 0 ? groups.includes(group) : way === "VpcSecurityGroup",
        );
        const open = ways.some(
          ({ rule }) =>
            admits(rule, port) &&
            (rule.cidrBlocks.length > 0 ||
              rule.self ||
              rule.securityGroups.some((client) => clients.has(client))),
        );
        return open || clients.size === 0
          ? []
          : [`${name} does not let the functions in to its port ${port}`];
      });
    },
  },
];
