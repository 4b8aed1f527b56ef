import * as v from "valibot";
import { policy } from "./policy.ts";
import { idOf, type Seen, type Stack } from "./stack.ts";

const text = v.string();
const list = v.optional(v.array(text), []);

const rule = v.object({
  protocol: text,
  fromPort: v.number(),
  toPort: v.number(),
  cidrBlocks: list,
  ipv6CidrBlocks: list,
  securityGroups: list,
  self: v.optional(v.boolean(), false),
});
export type IngressRule = v.InferOutput<typeof rule>;

const group = v.object({ ingress: v.optional(v.array(rule), []), vpcId: v.optional(text) });
export type SecurityGroup = Seen<v.InferOutput<typeof group>>;

/** Every security group, the VPC's default one among them. */
export const securityGroupsOf = (stack: Stack): SecurityGroup[] => [
  ...stack.parsed("aws:ec2/securityGroup:SecurityGroup", group),
  ...stack.parsed("aws:ec2/defaultSecurityGroup:DefaultSecurityGroup", group),
];

const single = v.object({
  securityGroupId: text,
  ipProtocol: text,
  fromPort: v.optional(v.number(), 0),
  toPort: v.optional(v.number(), 65_535),
  cidrIpv4: v.optional(text),
  cidrIpv6: v.optional(text),
  referencedSecurityGroupId: v.optional(text),
});

const older = v.object({
  type: text,
  securityGroupId: text,
  protocol: text,
  fromPort: v.number(),
  toPort: v.number(),
  cidrBlocks: list,
  ipv6CidrBlocks: list,
  sourceSecurityGroupId: v.optional(text),
});

/** Every way in: a group's id, and the rule, whether it stands in the group or by itself. */
export function waysInOf(stack: Stack): { group: string; name: string; rule: IngressRule }[] {
  return [
    ...securityGroupsOf(stack).flatMap(({ name, inputs }) =>
      inputs.ingress.map((one) => ({ group: idOf(name), name, rule: one })),
    ),
    ...stack
      .parsed("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", single)
      .map(({ name, inputs }) => ({
        group: inputs.securityGroupId,
        name,
        rule: {
          protocol: inputs.ipProtocol,
          fromPort: inputs.fromPort,
          toPort: inputs.toPort,
          cidrBlocks: [inputs.cidrIpv4 ?? []].flat(),
          ipv6CidrBlocks: [inputs.cidrIpv6 ?? []].flat(),
          securityGroups: [inputs.referencedSecurityGroupId ?? []].flat(),
          self: false,
        },
      })),
    ...stack
      .parsed("aws:ec2/securityGroupRule:SecurityGroupRule", older)
      .filter(({ inputs }) => inputs.type === "ingress")
      .map(({ name, inputs }) => ({
        group: inputs.securityGroupId,
        name,
        rule: { ...inputs, securityGroups: [inputs.sourceSecurityGroupId ?? []].flat(), self: false },
      })),
  ];
}

/** Does the rule let TCP through to this port? */
export const admits = ({ protocol, fromPort, toPort }: IngressRule, port: number): boolean =>
  protocol === "-1" || (["tcp", "6"].includes(protocol) && fromPort <= port && port <= toPort);

const everything = JSON.stringify({
  Version: "2012-10-17",
  Statement: { Effect: "Allow", Principal: "*", Action: "*", Resource: "*" },
});

const endpoint = v.object({
  serviceName: text,
  vpcEndpointType: v.optional(text, "Gateway"),
  privateDnsEnabled: v.optional(v.boolean(), false),
  subnetIds: list,
  securityGroupIds: list,
  /** Without one it lets out everything. */
  policy: v.optional(policy, everything),
});
export const endpointsOf = (stack: Stack): Seen<v.InferOutput<typeof endpoint>>[] =>
  stack.parsed("aws:ec2/vpcEndpoint:VpcEndpoint", endpoint);

const subnet = v.object({ availabilityZone: text });
const routeTable = v.object({ routes: v.optional(v.array(v.object({ gatewayId: v.optional(text) })), []) });
const association = v.object({ subnetId: text, routeTableId: text });

export type Subnet = { id: string; name: string; zone: string; isPublic: boolean };

/** The subnets; one whose routes lead to an internet gateway is public. */
export function subnetsOf(stack: Stack): Subnet[] {
  const open = stack
    .parsed("aws:ec2/routeTable:RouteTable", routeTable)
    .filter(({ inputs }) => inputs.routes.some(({ gatewayId }) => gatewayId !== undefined))
    .map(({ name }) => idOf(name));
  const associations = stack.parsed("aws:ec2/routeTableAssociation:RouteTableAssociation", association);
  return stack.parsed("aws:ec2/subnet:Subnet", subnet).map(({ name, inputs }) => {
    const id = idOf(name);
    const isPublic = associations.some(
      ({ inputs: { subnetId, routeTableId } }) => subnetId === id && open.includes(routeTableId),
    );
    return { id, name, zone: inputs.availabilityZone, isPublic };
  });
}
