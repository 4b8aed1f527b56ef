import { network, tcp } from "./network.ts";
import { sms } from "./sms.ts";
import { account, arnOf, policyOf, prefix, region, settings } from "./stage.ts";

/**
 * The way to AWS without NAT: an interface endpoint costs $7.30 a month in each zone (us-east-1, 2026), and a cent a
 * GB. What stands in its policy is all that anybody in the network can ask of the service, whatever a role allows.
 */
export const endpoints = network && settings.network.endpoints ? create(network) : [];

type Allowed = { actions: string[]; resources: $util.Input<string>[] };

function create({ vpc, functions }: NonNullable<typeof network>) {
  const securityGroup = new aws.ec2.SecurityGroup("VpcEndpointsSecurityGroup", {
    description: "Endpoints",
    vpcId: vpc.id,
    ingress: [tcp(443, { securityGroups: [functions.id] })],
  });

  const endpoint = (name: string, service: string, zones: number, allowed: Allowed) =>
    new aws.ec2.VpcEndpoint(name, {
      vpcId: vpc.id,
      vpcEndpointType: "Interface",
      serviceName: $interpolate`com.amazonaws.${region}.${service}`,
      privateDnsEnabled: true,
      subnetIds: vpc.privateSubnets.apply((ids) => ids.slice(0, zones)),
      securityGroupIds: [securityGroup.id],
      policy: policyOf([
        {
          ...allowed,
          principals: [{ type: "AWS", identifiers: ["*"] }],
          conditions: [{ test: "StringEquals", variable: "aws:PrincipalAccount", values: [account] }],
        },
      ]),
    });

  return [
    // $14.60: ingest and the sweep publish, all consumers set visibilities.
    endpoint("VpcSqsEndpoint", "sqs", 2, {
      actions: ["sqs:SendMessage", "sqs:GetQueueAttributes", "sqs:ChangeMessageVisibility"],
      resources: [arnOf("sqs", `${prefix}-*`)],
    }),
    // $14.60: deliver sends, the sweep asks for the limits, which no resource can be named for.
    endpoint("VpcEmailEndpoint", "email", 2, {
      actions: ["ses:SendEmail", "ses:GetSendQuota"],
      resources: ["*"],
    }),
    // $14.60, where deliver sends texts. The service's endpoint is called as the SDK's client is.
    ...(sms ? [endpoint("VpcSmsEndpoint", "pinpoint-sms-voice-v2", 2, sms.maySend)] : []),
    // $7.30: one zone is enough for migrate, which runs on deployments alone.
    endpoint("VpcSecretsEndpoint", "secretsmanager", 1, {
      actions: ["secretsmanager:GetSecretValue"],
      resources: [arnOf("secretsmanager", "secret:rds!db-*")],
    }),
  ];
}
