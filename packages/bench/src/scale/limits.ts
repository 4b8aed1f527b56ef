import { connectionsEach } from "@owed/functions/parse-settings";
import type { Instance } from "./instances.ts";
import type { Measured } from "./measured.ts";
import { quotas } from "./quotas.ts";

/** What a stage is set to, as far as it limits anything. */
export type Stage = {
  instance: Instance;
  /** GB of gp3. */
  storage: number;
  /** `MaximumConcurrency` of the event sources, and executions at once that the account allows. */
  concurrency: { ingest: number; deliver: number; feedback: number; account: number };
  /** Connections that the functions' database roles may have. */
  connections: { ingest: number; deliver: number; feedback: number };
  /** MB of each function. */
  memory: number;
  /** Emails that SES accepts a second, and in 24 hours. */
  emails: { rate: number; daily: number };
};

/** Production as it is deployed, in an account that has left SES's sandbox and has Lambda's usual quota. */
export const deployed = (instance: Instance): Stage => ({
  ...{ instance, storage: 50, memory: 512, emails: quotas.ses },
  concurrency: { ingest: 2, deliver: 4, feedback: 2, account: quotas.lambda.concurrency },
  connections: { ingest: 16, deliver: 32, feedback: 16 },
});

/** Assumptions, for want of a measurement: each is on the careful side. */
export const assumed = {
  /** The part of a core or a link that may be used for long. */
  headroom: 0.5,
  /** Recording the event and weighing the provider's evidence cost PostgreSQL about as much again as the row's life. */
  rest: 2,
  /** Bytes written for a byte of log: full-page images, the pages themselves, the insertion, events and attempts. */
  written: 4,
  /** Statements of a notification at a low rate, where no batch is full; each is a commit, and at worst a write. */
  statements: 1.2,
  /** Notifications of one event. */
  told: 2,
  /** Milliseconds that the provider takes for an email, and the part of a minute in which a sweep works. */
  provider: 60,
  sweeping: 50 / 60,
};

export type Limit = {
  what: string;
  /** Notifications a second, at the peak or over the day. */
  carries: number;
  at: "peak" | "average";
  /** How to raise it. */
  raise: string;
};

/** Connections that must be free for each execution: a deployment's new containers open theirs beside the old ones'. */
export const connectionsOfContainer = 2 * connectionsEach;

/** What each part of a stage carries when the work is spread evenly, the least first. */
export function limitsOf(measured: Measured, stage: Stage): Limit[] {
  const { instance, storage, concurrency, connections, memory } = stage;
  const { headroom, rest, written, statements, told, provider, sweeping } = assumed;
  /** A function's part of a core: what takes a millisecond here takes so much longer there. */
  const share = Math.min(1, memory / quotas.lambda.megabytesOfCore);
  const disk = storage < quotas.gp3.large.from ? quotas.gp3.small : quotas.gp3.large;
  const atOnce = (name: "ingest" | "deliver") =>
    Math.min(concurrency[name], Math.floor(connections[name] / connectionsOfContainer));
  const peaks: Omit<Limit, "at">[] = [
    { what: "SES: sending rate", carries: stage.emails.rate, raise: "SES console, a higher sending quota" },
    {
      what: `deliver: ${atOnce("deliver")} at once`,
      carries: (atOnce("deliver") * quotas.sqs.batch * 1000) / (provider + measured.deliver / share),
      raise: "functions.deliver.concurrency, database.roleConnections.deliver",
    },
    {
      what: `ingest: ${atOnce("ingest")} at once, an event each`,
      carries: (atOnce("ingest") * told * 1000) / (measured.ingest / share),
      raise: "concurrency.ingest, database.roleConnections.ingest",
    },
    {
      what: `sweep: one, ${memory} MB`,
      carries: measured.rowsOfSweepCore * share * sweeping,
      raise: "memory, to 1,769 MB",
    },
    {
      what: `RDS ${instance.name}: processor, for long`,
      carries: (instance.cores * Math.min(instance.baseline, headroom) * measured.rowsOfServerCore) / rest,
      raise: "database.instance",
    },
    {
      what: `RDS ${instance.name}: bytes written`,
      carries:
        (Math.min(instance.megabytes, disk.megabytes) * headroom * 1e6) / (measured.walPerRow * written),
      raise: "database.instance, database.storage from 400 GB",
    },
    {
      what: `RDS ${instance.name}: commits`,
      carries: (Math.min(instance.iops, disk.iops) * headroom) / statements,
      raise: "database.instance, database.storage from 400 GB",
    },
    {
      what: "EventBridge: events to the event queue",
      carries: quotas.eventBridge * told,
      raise: "Service Quotas",
    },
    {
      what: "SQS: calls to FIFO queues, one message each",
      carries: quotas.sqs.calls,
      raise: "none needed: ten in a call",
    },
  ];
  const limits: Limit[] = [
    ...peaks.map((limit) => ({ ...limit, at: "peak" as const })),
    {
      what: `SES: ${stage.emails.daily.toLocaleString("en")} in 24 hours`,
      ...{ carries: stage.emails.daily / 86_400, at: "average" },
      raise: "SES console, a higher sending quota",
    },
    {
      what: `RDS ${instance.name}: a day's rows in half of its memory`,
      ...{ carries: (instance.memory * 1e9 * headroom) / measured.bytesPerRow / 86_400, at: "average" },
      raise: "database.instance",
    },
  ];
  return limits.toSorted((a, b) => a.carries - b.carries);
}

/** Executions at once that a stage needs: its event sources', a sweep, migrate. */
export const executions = ({ concurrency: { ingest, deliver, feedback } }: Stage): number =>
  ingest + deliver + feedback + 2;
