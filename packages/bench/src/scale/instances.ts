import { prices } from "../cost/prices.ts";

/** An RDS instance class. */
export type Instance = {
  name: string;
  cores: number;
  /** GB of memory. */
  memory: number;
  /** The part of its cores that it may use all the time: burstable ones spend credits above it, and then dollars. */
  baseline: number;
  /** Of its link to the storage, all the time: MB and operations a second. */
  megabytes: number;
  iops: number;
  /** US dollars an hour in one zone. */
  hour: number;
};

/**
 * From the smallest. Cores and baselines: Amazon EC2 user guide, burstable performance instances; links: Amazon
 * EBS-optimized instance types (ebs-optimized); prices of t4g as in `cost`, of m7g from
 * https://aws.amazon.com/rds/postgresql/pricing/, us-east-1. The links and prices of m7g are second-hand: look there before you
 * rely on them.
 */
export const instances: readonly Instance[] = [
  {
    name: "t4g.micro",
    cores: 2,
    memory: 1,
    baseline: 0.1,
    megabytes: 10.9,
    iops: 500,
    hour: prices.instance["t4g.micro"],
  },
  {
    name: "t4g.small",
    cores: 2,
    memory: 2,
    baseline: 0.2,
    megabytes: 21.8,
    iops: 1000,
    hour: prices.instance["t4g.small"],
  },
  {
    name: "t4g.medium",
    cores: 2,
    memory: 4,
    baseline: 0.2,
    megabytes: 43.4,
    iops: 2000,
    hour: prices.instance["t4g.medium"],
  },
  { name: "m7g.large", cores: 2, memory: 8, baseline: 1, megabytes: 78.8, iops: 3600, hour: 0.168 },
  { name: "m7g.xlarge", cores: 4, memory: 16, baseline: 1, megabytes: 156, iops: 6000, hour: 0.336 },
  { name: "m7g.2xlarge", cores: 8, memory: 32, baseline: 1, megabytes: 313, iops: 12_000, hour: 0.672 },
  { name: "m7g.4xlarge", cores: 16, memory: 64, baseline: 1, megabytes: 625, iops: 20_000, hour: 1.344 },
];
