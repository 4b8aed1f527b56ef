/**
 * What AWS asks, in US dollars, us-east-1, on demand, without free tiers; read in June 2026. Other regions differ by a
 * tenth or two. Whoever changes one changes the date.
 */
export const prices = {
  date: "June 2026",
  region: "us-east-1",
  /** https://aws.amazon.com/sqs/pricing/: a request, of up to 64 KiB. */
  sqsStandard: 0.4 / 1e6,
  sqsFifo: 0.5 / 1e6,
  /** https://aws.amazon.com/lambda/pricing/: an invocation, and a GB-second on Arm. */
  lambdaInvocation: 0.2 / 1e6,
  lambdaSecond: 0.0000133334,
  /** https://aws.amazon.com/eventbridge/pricing/: a custom event (AWS's own are free), and the Scheduler's invocation. */
  customEvent: 1 / 1e6,
  scheduled: 1 / 1e6,
  /** https://aws.amazon.com/ses/pricing/: an email. */
  email: 0.1 / 1e3,
  /** https://aws.amazon.com/rds/postgresql/pricing/: an hour of an instance in one zone; a GB of gp3 for a month. */
  instance: { "t4g.micro": 0.016, "t4g.small": 0.032, "t4g.medium": 0.065 },
  storage: 0.115,
  /** https://aws.amazon.com/privatelink/pricing/: an hour of an interface endpoint in one zone. */
  endpoint: 0.01,
  /** https://aws.amazon.com/cloudwatch/pricing/: each for a month; a GB of logs taken in. */
  metric: 0.3,
  alarm: 0.1,
  dashboard: 3,
  logs: 0.5,
  /** Each for a month: a key (https://aws.amazon.com/kms/pricing/), a secret, a private DNS zone. */
  key: 1,
  secret: 0.4,
  zone: 0.5,
} as const;

export const hoursOfMonth = 730;
export const minutesOfMonth = hoursOfMonth * 60;
