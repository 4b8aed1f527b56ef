/**
 * What AWS lets one account do in one region, eu-west-1, by copies of the named pages; whoever changes one
 * changes the date. Those that can be raised are raised on request.
 */
export const quotas = {
  date: "2026",
  sqs: {
    /** Amazon SQS message quotas (quotas-messages): calls a second of each action to high-throughput FIFO queues. */
    calls: 70_000,
    /** The same page: messages in a call. */
    batch: 10,
    /** Amazon SQS FIFO queue quotas (quotas-fifo): messages received and not yet deleted, of one queue. */
    inFlight: 120_000,
  },
  lambda: {
    /** AWS Lambda quotas (gettingstarted-limits): executions at once. A new account has fewer: 10. */
    concurrency: 1000,
    /** Scaling behaviour of SQS event sources (services-sqs-scaling): `MaximumConcurrency`, 2 to this. */
    mostOfSource: 1000,
    /** Configure Lambda function memory (configuration-memory): MB that come with one whole vCPU. */
    megabytesOfCore: 1769,
  },
  ses: {
    /** What an account commonly gets when it leaves the sandbox: AWS names no number, the console shows it. */
    rate: 14,
    daily: 50_000,
  },
  /** Amazon EventBridge quotas (eb-quota), eu-west-1: matched events handed to their targets a second. */
  eventBridge: 18_750,
  /** What are the Message Parts per Second limits (sms-limitations-mps), US: of a short code, and of a toll-free number. */
  sms: { shortCode: 100, tollFree: 3 },
  /** Amazon RDS DB instance storage (CHAP_Storage), gp3 for PostgreSQL: below 400 GiB, and from there on. */
  gp3: {
    small: { iops: 3000, megabytes: 125 },
    large: { from: 400, iops: 12_000, megabytes: 500 },
    most: 65_536,
  },
} as const;
