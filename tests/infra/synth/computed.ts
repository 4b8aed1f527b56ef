import type { ResourceArguments } from "./pulumi.ts";

export const account = "123456789012";

type Inputs = Record<string, string>;
type Outputs = Record<string, unknown>;

/**
 * What AWS would answer for a new resource, by type: whatever the program or SST goes on to use must look real. Secrets
 * are marked, so that a rule can look for them where they must not be.
 */
export function computedOutputs(region: string): (given: ResourceArguments) => Outputs {
  const arn = (service: string, name: string) => `arn:aws:${service}:${region}:${account}:${name}`;
  const byType: Record<string, (inputs: Inputs, name: string) => Outputs> = {
    "aws:sqs/queue:Queue": ({ name = "" }) => {
      const url = `https://sqs.${region}.amazonaws.com/${account}/${name}`;
      return { arn: arn("sqs", name), url, id: url };
    },
    "aws:lambda/function:Function": ({ name = "" }) => ({
      arn: arn("lambda", `function:${name}`),
      qualifiedArn: arn("lambda", `function:${name}:1`),
      invokeArn: arn("apigateway", `lambda:path/2015-03-31/functions/${name}/invocations`),
      version: "$LATEST",
      lastModified: "2026-01-01T00:00:00.000+0000",
      publish: false,
    }),
    "aws:lambda/invocation:Invocation": (_inputs, name) => ({ result: `"${name} was invoked"` }),
    "aws:iam/role:Role": ({ name = "" }) => ({ arn: `arn:aws:iam::${account}:role/${name}` }),
    "aws:iam/policy:Policy": ({ name = "" }, logical) => ({
      arn: `arn:aws:iam::${account}:policy/${name || logical}`,
    }),
    "aws:cloudwatch/logGroup:LogGroup": ({ name = "" }) => ({ arn: arn("logs", `log-group:${name}`) }),
    "aws:cloudwatch/eventBus:EventBus": ({ name = "" }) => ({ arn: arn("events", `event-bus/${name}`) }),
    "aws:cloudwatch/eventRule:EventRule": ({ name = "", eventBusName = "default" }) => ({
      arn: arn("events", eventBusName === "default" ? `rule/${name}` : `rule/${eventBusName}/${name}`),
    }),
    "aws:cloudwatch/metricAlarm:MetricAlarm": ({ name = "" }, logical) => ({
      arn: arn("cloudwatch", `alarm:${name || logical}`),
    }),
    "aws:secretsmanager/secret:Secret": ({ name = "" }) => ({
      arn: arn("secretsmanager", `secret:${name}-AbCdEf`),
      id: arn("secretsmanager", `secret:${name}-AbCdEf`),
    }),
    "aws:rds/instance:Instance": ({ identifier = "" }, logical) => ({
      arn: arn("rds", `db:${identifier}`),
      address: `${identifier}.c0ffee.${region}.rds.amazonaws.com`,
      endpoint: `${identifier}.c0ffee.${region}.rds.amazonaws.com:5432`,
      port: 5432,
      resourceId: `db-${logical.toUpperCase()}`,
      availabilityZone: `${region}a`,
      masterUserSecrets: [
        { secretArn: arn("secretsmanager", `secret:rds!db-${logical}-AbCdEf`), secretStatus: "active" },
      ],
    }),
    "aws:sesv2/emailIdentity:EmailIdentity": ({ emailIdentity = "" }) => ({
      arn: arn("ses", `identity/${emailIdentity}`),
      dkimSigningAttributes: { tokens: ["dkim1", "dkim2", "dkim3"] },
    }),
    "aws:sesv2/configurationSet:ConfigurationSet": ({ configurationSetName = "" }) => ({
      arn: arn("ses", `configuration-set/${configurationSetName}`),
    }),
    "aws:sns/topic:Topic": ({ name = "" }, logical) => ({ arn: arn("sns", name || logical) }),
    "aws:pinpoint/smsvoicev2ConfigurationSet:Smsvoicev2ConfigurationSet": ({ name = "" }) => ({
      arn: arn("sms-voice", `configuration-set/${name}`),
    }),
    "aws:pinpoint/smsvoicev2OptOutList:Smsvoicev2OptOutList": ({ name = "" }) => ({
      arn: arn("sms-voice", `opt-out-list/${name}`),
    }),
    "aws:pinpoint/smsvoicev2PhoneNumber:Smsvoicev2PhoneNumber": () => ({
      id: "phone-0123456789abcdef0123456789abcdef",
      arn: arn("sms-voice", "phone-number/phone-0123456789abcdef0123456789abcdef"),
      phoneNumber: "+447700900999",
    }),
    "aws:ec2/vpcEndpoint:VpcEndpoint": (_inputs, name) => ({ id: `vpce-${name.toLowerCase()}` }),
    "aws:ec2/instance:Instance": (_inputs, name) => ({
      publicIp: "203.0.113.10",
      primaryNetworkInterfaceId: `eni-${name.toLowerCase()}`,
    }),
    "aws:ec2/eip:Eip": () => ({ publicIp: "203.0.113.11" }),
    "random:index/randomBytes:RandomBytes": (_inputs, name) => ({
      base64: Buffer.from(secretMark(name).padEnd(32)).toString("base64"),
      hex: Buffer.from(secretMark(name)).toString("hex"),
    }),
    "random:index/randomPassword:RandomPassword": (_inputs, name) => ({ result: secretMark(name) }),
    "tls:index/privateKey:PrivateKey": (_inputs, name) => ({
      privateKeyOpenssh: secretMark(name),
      publicKeyOpenssh: "ssh-rsa public",
    }),
  };
  return ({ type, name, inputs }) => byType[type]?.(inputs as Inputs, name) ?? {};
}

/** The value of a secret, generated or set. */
export const secretMark = (name: string): string => `secret-of-${name}`;
