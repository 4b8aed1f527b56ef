import fc from "fast-check";
import type { Outcome } from "../states.ts";
import type { ModelOutcome } from "./model.ts";

/** One step of a history. Numbers pick among what there is, from the newest on, modulo how much there is. */
export type Step =
  /** A sweep's look, and its slice as a whole, or killed after its publish, or before it. */
  | {
      do: "sweep";
      look: Step & { do: "look" };
      slice: Step & { do: "lease" };
      until: "mark" | "publish" | "lease";
    }
  /** A worker's batch: the outcomes of some, or of none when it is killed after the claim. */
  | { do: "deliver"; messages: number[]; record: Step & { do: "record" } }
  | { do: "lease"; most: number; fresh: number | null }
  | { do: "look"; limit: number; queued: "lost" | "look" | "skip"; unknown: "look" | "skip" }
  | { do: "publish"; lease: number }
  | { do: "mark"; leases: number[] }
  | { do: "release"; lease: number; wait: number }
  | { do: "redrive"; message: number }
  | { do: "claim"; messages: number[] }
  | { do: "record"; claims: number[]; outcomes: ModelOutcome[]; wait: number; reply: number }
  | { do: "evidence"; row: number; reply: number; outcome: Exclude<Outcome, "none">; ago: number | null }
  /** Until the next row is due, or for so many seconds. */
  | { do: "pass"; seconds: number | null }
  | { do: "replay"; rows: number[]; kind: "replayed" | "redriven" }
  | { do: "resolve"; row: number }
  | { do: "cancel"; row: number }
  | { do: "optOut"; row: number }
  | { do: "lift"; row: number }
  /** By the provider's word for so many seconds, or until a person opens it. */
  | { do: "close"; seconds: number | null }
  | { do: "open" };

export type StepOf<Kind extends Step["do"]> = Extract<Step, { do: Kind }>;

/** Mostly one of the newest: what came long ago is fenced or stale, and teaches little. */
const nth = fc.oneof(
  { weight: 4, arbitrary: fc.nat({ max: 2 }) },
  { weight: 1, arbitrary: fc.nat({ max: 12 }) },
);
const some = fc.array(nth, { minLength: 1, maxLength: 3 });
const outcome = fc.constantFrom<ModelOutcome>(
  "accepted",
  "refused",
  "exhausted",
  "transient",
  "transient",
  "throttled",
  "unknown",
  "unknown",
  "not_called",
);
const reply = fc.nat({ max: 2 });

const lease = {
  most: fc.integer({ min: 1, max: 5 }),
  // Between whole seconds, which is where the rows are.
  fresh: fc.constantFrom(null, null, null, 45.5),
};
const look = {
  limit: fc.integer({ min: 1, max: 5 }),
  queued: fc.constantFrom("look", "look", "look", "lost", "lost", "skip"),
  unknown: fc.constantFrom("look", "look", "look", "skip"),
};
const record = {
  claims: fc.array(nth, { maxLength: 3 }),
  outcomes: fc.array(outcome, { minLength: 1, maxLength: 3 }),
  wait: fc.constantFrom(1, 600),
  reply,
};

const kinds = {
  sweep: {
    look: fc.record({ do: fc.constant("look"), ...look }),
    slice: fc.record({ do: fc.constant("lease"), ...lease }),
    until: fc.constantFrom("mark", "mark", "mark", "mark", "mark", "publish", "lease"),
  },
  deliver: { messages: some, record: fc.record({ do: fc.constant("record"), ...record }) },
  lease,
  look,
  publish: { lease: nth },
  mark: { leases: some },
  release: { lease: nth, wait: fc.constantFrom(0, 30) },
  claim: { messages: some },
  redrive: { message: nth },
  record,
  evidence: {
    row: nth,
    reply,
    outcome: fc.constantFrom("accepted", "arrived", "bounced", "complained"),
    ago: fc.constantFrom(null, 0, 30),
  },
  pass: { seconds: fc.constantFrom(null, null, null, 7, 61, 125, 905, 1205, 1265) },
  replay: { rows: some, kind: fc.constantFrom("replayed", "redriven") },
  resolve: { row: nth },
  cancel: { row: nth },
  optOut: { row: nth },
  lift: { row: nth },
  close: { seconds: fc.constantFrom(null, 30, 300, 300, 3000) },
  open: {},
};

/** How often each kind of step comes: most of the time the way of a delivery, now and then what ends it. */
const weights: Record<keyof typeof kinds, number> = {
  sweep: 30,
  deliver: 16,
  lease: 3,
  look: 3,
  publish: 2,
  mark: 3,
  release: 2,
  claim: 3,
  redrive: 5,
  record: 4,
  evidence: 1,
  pass: 30,
  replay: 2,
  resolve: 1,
  cancel: 1,
  optOut: 1,
  lift: 3,
  close: 2,
  open: 3,
};

/** One step of a history, at random. */
const anyStep = fc.oneof(
  ...(Object.keys(kinds) as (keyof typeof kinds)[]).map((kind) => ({
    weight: weights[kind],
    arbitrary: fc.record({
      do: fc.constant(kind),
      ...(kinds[kind] as Record<string, fc.Arbitrary<unknown>>),
    }),
  })),
) as fc.Arbitrary<Step>;

/** Rows that were rescued or resent before, so that histories reach the last time. */
export const anyHistory = fc.record({
  counters: fc.record({ rescues: fc.nat({ max: 3 }), resends: fc.nat({ max: 3 }) }),
  steps: fc.array(anyStep, { minLength: 20, maxLength: 80, size: "max" }),
});
