import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { writtenMetrics } from "../../../../tests/infra/rules/written-metrics.ts";
import type { Line } from "./bill.ts";
import { hoursOfMonth, minutesOfMonth, prices } from "./prices.ts";

/** What a stage has standing there, whatever is owed. */
export type Fixed = {
  stage: string;
  instance: keyof typeof prices.instance;
  /** Two with a standby in another zone. */
  instances: number;
  /** GB, of each instance. */
  storage: number;
  /** Interface endpoints, each counted once for every zone that it is in. */
  endpoints: number;
  alarms: number;
  dashboards: number;
  /** Different ones that the functions write. */
  metrics: number;
  keys: number;
  secrets: number;
  /** Private DNS zones. */
  zones: number;
  /** Queues that Lambda polls. */
  polled: { standard: number; fifo: number };
};

type Resource = { type: string; inputs: Record<string, unknown> };

const synth = fileURLToPath(new URL("../../../../tests/infra/synth.ts", import.meta.url));

/** Reads it from the synthesis of a stage: it is what a deployment would make. */
export async function readFixed(stage = "production"): Promise<Fixed> {
  const { stdout } = await promisify(execFile)(process.execPath, [synth, "--stage", stage, "--json"], {
    maxBuffer: 100_000_000,
  });
  const { resources }: { resources: Resource[] } = JSON.parse(stdout);
  const all = (type: string) =>
    resources.filter((resource) => resource.type === type).map(({ inputs }) => inputs);
  const [database] = all("aws:rds/instance:Instance");
  if (!database) throw new Error(`the synthesis of ${stage} has no database`);
  const instance = String(database.instanceClass).replace(/^db\./, "");
  if (!isPriced(instance)) throw new Error(`prices.ts has no price of ${instance}: add it`);
  const alarms = all("aws:cloudwatch/metricAlarm:MetricAlarm");
  const sources = all("aws:lambda/eventSourceMapping:EventSourceMapping").map(({ eventSourceArn }) =>
    String(eventSourceArn),
  );
  const fifo = sources.filter((arn) => arn.endsWith(".fifo")).length;
  const endpoints = all("aws:ec2/vpcEndpoint:VpcEndpoint").filter(
    ({ vpcEndpointType }) => vpcEndpointType === "Interface",
  );
  return {
    stage,
    instance,
    instances: database.multiAz === true ? 2 : 1,
    storage: Number(database.allocatedStorage),
    endpoints: endpoints.reduce(
      (sum, { subnetIds }) => sum + (Array.isArray(subnetIds) ? subnetIds.length : 0),
      0,
    ),
    alarms: alarms.length,
    dashboards: all("aws:cloudwatch/dashboard:Dashboard").length,
    metrics: [...writtenMetrics.values()].reduce((sum, names) => sum + names.size, 0),
    keys: all("aws:kms/key:Key").length,
    secrets: database.manageMasterUserPassword === true ? 1 : 0,
    zones: all("aws:servicediscovery/privateDnsNamespace:PrivateDnsNamespace").length,
    polled: { standard: sources.length - fifo, fifo },
  };
}

const isPriced = (instance: string): instance is Fixed["instance"] =>
  Object.hasOwn(prices.instance, instance);

/**
 * Empty receives a minute of a queue that Lambda polls: five pollers that wait twenty seconds each. Seen in CloudWatch's
 * NumberOfEmptyReceives by others (github.com/getlift/lift/issues/132); fewer where the maximum concurrency is less.
 */
const emptyReceives = 15;

export function fixedCosts({
  instance,
  instances,
  storage,
  endpoints,
  alarms,
  dashboards,
  metrics,
  keys,
  secrets,
  zones,
  polled,
}: Fixed): Line[] {
  const polls = emptyReceives * minutesOfMonth;
  return [
    {
      what: `RDS: ${instances} × ${instance}`,
      dollars: instances * prices.instance[instance] * hoursOfMonth,
    },
    { what: `RDS: ${instances} × ${storage} GB`, dollars: instances * storage * prices.storage },
    { what: `VPC endpoints: ${endpoints}`, dollars: endpoints * prices.endpoint * hoursOfMonth },
    {
      what: `CloudWatch: ${metrics} metrics, ${alarms} alarms, ${dashboards} dashboard`,
      dollars: metrics * prices.metric + alarms * prices.alarm + dashboards * prices.dashboard,
    },
    {
      what: `A key, a secret, a DNS zone: ${keys + secrets + zones}`,
      dollars: keys * prices.key + secrets * prices.secret + zones * prices.zone,
    },
    {
      what: "SQS: empty receives of Lambda's pollers",
      dollars: polls * (polled.standard * prices.sqsStandard + polled.fifo * prices.sqsFifo),
    },
  ];
}
