import { defaultDurations } from "@owed/ledger/durations";
import * as v from "valibot";
import { namedIssues } from "./issues.ts";

/** Longer than anything here lasts, and no longer than PostgreSQL's intervals and Node's timers can be. */
const mostSeconds = 14 * 24 * 60 * 60;
const seconds = (fallback: number, least = 0) =>
  v.optional(v.pipe(v.number(), v.minValue(least), v.maxValue(mostSeconds)), fallback);
const count = (fallback: number, least: number, most: number) =>
  v.optional(v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most)), fallback);

/**
 * Seconds that each function may run. A queue's visibility timeout is six times its consumer's (AWS Lambda developer
 * guide, SQS event sources); the sweep's is the beat of its schedule.
 */
export const timeouts = { ingest: 30, sweep: 60, deliver: 30, feedback: 30 } as const;

/**
 * How often the event queue and the feedback queue hand out a message at most: it fails only while the database is
 * away, and comes again each minute. SQS allows no more.
 */
export const eventReceives = 1000;

/** Connections to the ledger that one container of a function holds at most. */
export const connectionsEach = 2;

/** Every setting of the functions, with its default. A stage overrides some through the linked `Settings`. */
const sections = v.strictObject({
  /** What SST adds to whatever it links. */
  type: v.optional(v.string()),
  sweep: v.optional(
    v.strictObject({
      /** Seconds a sweep works; the function's timeout, 60 s, leaves room to finish. */
      budget: seconds(50, 0.1),
      /** Rows leased at a time: larger slices gain nothing (measured). */
      slice: count(1000, 1, 10_000),
      /** SendMessageBatch calls in flight: a slice's hundred calls in five rounds; more gain nothing (measured). */
      lanes: count(20, 1, 64),
      /** Seconds from one beat of the schedule to the next: the queue gets no more than its channels send until then. */
      every: seconds(60, 0.1),
      /** Rows in the queue at most of a channel whose provider's rate is not known. */
      queued: count(50_000, 1, 1_000_000),
      /** The part of a beat's rows that is kept for fresh ones while a backlog drains. */
      freshShare: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1)), 0.5),
      /** Rows that probe a provider after its channel's breaker was open. */
      probe: count(10, 1, 1000),
    }),
    {},
  ),
  ingest: v.optional(
    v.strictObject({
      /** What an event owes at once is published right after it is recorded; false: by the next sweep. */
      atOnce: v.optional(v.boolean(), true),
    }),
    {},
  ),
  deliver: v.optional(
    v.strictObject({
      /**
       * Workers among whom a channel's rate is divided: the event source's maximum concurrency, since each invocation
       * on Lambda has a process of its own; 1 where one process serves them all.
       */
      concurrency: count(4, 1, 1000),
      /** Seconds one provider call may take. */
      call: seconds(10, 0.1),
      /** The redrive policy's maxReceiveCount: the last receive is the last try. */
      receives: count(5, 2, 1000),
      /** Seconds of the send lease after which a worker no longer calls: its clock may have stood still. */
      callBefore: seconds(45, 0.1),
      /** Seconds kept before the function's deadline for recording and acknowledging, which stop a second before it. */
      reserve: seconds(5, 1.5),
    }),
    {},
  ),
  channel: v.optional(
    v.strictObject({
      /** Calls that fail in a row, with no answer between them, until a channel's breaker opens. Fewer than `deliver.receives`. */
      failures: count(4, 1, 1000),
      /** Seconds for which it then stays open, and at most: each time in a row twice as long. */
      breaker: seconds(30, 0.1),
      breakerMost: seconds(120, 0.1),
      /** Seconds until a channel is tried again whose daily quota is used up, and one whose account is stopped. */
      quota: seconds(900, 0.1),
      account: seconds(300, 0.1),
      /** Seconds between two looks at a provider's limits. */
      limits: seconds(300, 0.1),
    }),
    {},
  ),
  /**
   * By channel: messages a second at most, whatever the provider allows, and alone where it does not say; messages in
   * 24 hours at most, of those that the provider counts.
   */
  limits: v.optional(
    v.record(
      v.string(),
      v.strictObject({
        rate: v.optional(v.nullable(v.pipe(v.number(), v.minValue(0.01), v.maxValue(1_000_000))), null),
        quota: v.optional(v.nullable(v.pipe(v.number(), v.integer(), v.minValue(1))), null),
      }),
    ),
    {},
  ),
  retention: v.optional(
    v.strictObject({
      /**
       * Days after its end that a notification stays beside the living ones, before it goes to the archive; null: for
       * ever. More than any queue keeps a message.
       */
      days: v.optional(v.nullable(v.pipe(v.number(), v.integer(), v.minValue(15), v.maxValue(3650))), 90),
      /** Days that refused events are kept for a look. */
      refusedDays: count(30, 1, 3650),
    }),
    {},
  ),
  durations: v.optional(
    v.strictObject({
      lease: seconds(defaultDurations.lease, 0.1),
      sendLease: seconds(defaultDurations.sendLease, 0.1),
      lostAfter: seconds(defaultDurations.lostAfter, 0.1),
      grace: seconds(defaultDurations.grace, 0.1),
      heartbeat: seconds(defaultDurations.heartbeat, 0.1),
      queueEmpty: seconds(defaultDurations.queueEmpty),
      settle: seconds(defaultDurations.settle),
    }),
    {},
  ),
});

export type Settings = Omit<v.InferOutput<typeof sections>, "type">;

/** Seconds within which SQS swallows a repeated deduplication id (Amazon SQS developer guide). */
const deduplicationWindow = 300;

/** Each time must outlast the one before it, or the guarantees fall: see docs/states.md. */
const order: [(settings: Settings) => boolean, string][] = [
  [
    ({ sweep, durations }) => sweep.budget < durations.heartbeat,
    "sweep.budget must be less than durations.heartbeat",
  ],
  [
    ({ durations }) => durations.heartbeat < durations.lease,
    "durations.heartbeat must be less than durations.lease",
  ],
  [
    ({ durations }) => durations.lease < deduplicationWindow,
    `durations.lease must be less than ${deduplicationWindow}`,
  ],
  [
    ({ deliver, durations }) => deliver.callBefore + deliver.call <= durations.sendLease,
    "deliver.callBefore and deliver.call together must not exceed durations.sendLease",
  ],
  [
    ({ sweep, durations }) => sweep.every < durations.lostAfter,
    "sweep.every must be less than durations.lostAfter, or what waits in the queue counts as lost",
  ],
  [
    ({ sweep, durations }) => sweep.every < durations.settle,
    "sweep.every must be less than durations.settle, or each beat looks like a gap and no unknown outcome is ever resent",
  ],
  [
    ({ channel }) => channel.breaker <= channel.breakerMost,
    "channel.breaker must not exceed channel.breakerMost",
  ],
  [
    ({ deliver }) => deliver.call + deliver.reserve <= timeouts.deliver / 2,
    `deliver.call and deliver.reserve together must not exceed ${timeouts.deliver / 2}, half of the function's timeout`,
  ],
];

/** The whole of the functions' settings, each with its default. */
export const settingsSchema = v.pipe(
  sections,
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    for (const [holds, message] of order) if (!holds(dataset.value)) addIssue({ message });
  }),
  v.transform(({ type: _, ...settings }): Settings => settings),
);

/** The settings are wrong: which one, and why. */
export class InvalidSettings extends Error {
  override readonly name = "InvalidSettings";
}

/** Parses settings; throws `InvalidSettings` naming each wrong one. */
export function parseSettings(given: unknown): Settings {
  const parsed = v.safeParse(settingsSchema, given);
  if (parsed.success) return parsed.output;
  const wrong = namedIssues(parsed.issues, "settings");
  throw new InvalidSettings(`wrong settings: ${wrong}; correct the linked 'Settings'`);
}
