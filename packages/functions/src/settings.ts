import { defaultDurations } from "@owed/ledger";
import { Resource } from "sst/resource";
import * as v from "valibot";

const seconds = (fallback: number, least = 0) => v.optional(v.pipe(v.number(), v.minValue(least)), fallback);
const count = (fallback: number, least: number, most: number) =>
  v.optional(v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most)), fallback);

/** Seconds that deliver may run. */
const functionTimeout = 30;

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
      /** SendMessageBatch calls in flight: more than 16 gain nothing (measured). */
      lanes: count(16, 1, 64),
    }),
    {},
  ),
  deliver: v.optional(
    v.strictObject({
      /** Seconds one provider call may take. */
      call: seconds(10, 0.1),
      /** The redrive policy's maxReceiveCount: the last receive is the last try. */
      receives: count(5, 2, 1000),
      /** Seconds of the send lease after which a worker no longer calls: its clock may have stood still. */
      callBefore: seconds(45, 0.1),
      /** Seconds kept before the function's deadline for recording and acknowledging. */
      reserve: seconds(5, 0.1),
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
    ({ deliver }) => deliver.call + deliver.reserve <= functionTimeout / 2,
    `deliver.call and deliver.reserve together must not exceed ${functionTimeout / 2}, half of the function's timeout`,
  ],
];

const schema = v.pipe(
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
  const parsed = v.safeParse(schema, given);
  if (parsed.success) return parsed.output;
  const wrong = parsed.issues.map((issue) => `${v.getDotPath(issue) ?? "settings"}: ${issue.message}`);
  throw new InvalidSettings(`wrong settings: ${wrong.join("; ")}; correct the linked 'Settings'`);
}

/** The settings linked to this function, or the defaults. */
export const readSettings = (): Settings =>
  parseSettings("Settings" in Resource ? Reflect.get(Resource, "Settings") : {});
