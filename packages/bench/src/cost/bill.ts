import { minutesOfMonth, prices } from "./prices.ts";

/** What was counted while some notifications went their way, or while nothing was owed. */
export type Usage = {
  notifications: number;
  /** Minutes it took: each has one beat of the schedule. */
  minutes: number;
  /** Events that the platform put on its bus. */
  customEvents: number;
  emails: number;
  /** Requests of any kind but empty receives, by kind of queue; EventBridge's sends among them. */
  sqs: { standard: number; fifo: number };
  /** By function: invocations, and the seconds that they took together. */
  functions: Record<string, { invocations: number; seconds: number }>;
  /** Statements that PostgreSQL ran for the functions. */
  statements: number;
};

export type Line = { what: string; dollars: number };

/** A function's memory in GB. */
const memory = 0.5;

/** Bytes that an invocation leaves in the log: Lambda's own two lines, and our metrics. */
const logged = 2000;

/** What the usage costs by itself, beside what stands there anyway. */
export function costOfUsage({ customEvents, emails, sqs, functions, minutes }: Usage): Line[] {
  const called = Object.values(functions);
  const invocations = called.reduce((sum, { invocations }) => sum + invocations, 0);
  const seconds = called.reduce((sum, { seconds }) => sum + seconds, 0);
  return [
    { what: "SES: emails", dollars: emails * prices.email },
    { what: "EventBridge: the platform's events", dollars: customEvents * prices.customEvent },
    {
      what: "SQS: sends, receives, deletes",
      dollars: sqs.standard * prices.sqsStandard + sqs.fifo * prices.sqsFifo,
    },
    { what: "Lambda: invocations", dollars: invocations * prices.lambdaInvocation },
    { what: "Lambda: time", dollars: seconds * memory * prices.lambdaSecond },
    { what: "EventBridge Scheduler: beats", dollars: minutes * prices.scheduled },
    { what: "CloudWatch: logs", dollars: ((invocations * logged) / 1e9) * prices.logs },
  ];
}

/** The same work again and again for a month, so that it comes to so many notifications. */
export function scaled(usage: Usage, notifications: number): Usage {
  const by = notifications / usage.notifications;
  return {
    notifications,
    minutes: minutesOfMonth,
    customEvents: usage.customEvents * by,
    emails: usage.emails * by,
    sqs: { standard: usage.sqs.standard * by, fifo: usage.sqs.fifo * by },
    functions: Object.fromEntries(
      Object.entries(usage.functions).map(([name, { invocations, seconds }]) =>
        // The schedule beats as often, whatever is owed.
        name === "sweep"
          ? [name, { invocations: minutesOfMonth, seconds: (seconds / invocations) * minutesOfMonth }]
          : [name, { invocations: invocations * by, seconds: seconds * by }],
      ),
    ),
    statements: usage.statements * by,
  };
}
