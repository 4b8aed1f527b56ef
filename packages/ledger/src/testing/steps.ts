import fc from "fast-check";
import type { Step } from "./history.ts";
import type { ModelOutcome } from "./model.ts";

const nth = fc.nat({ max: 8 });
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
  limit: fc.integer({ min: 1, max: 5 }),
  queued: fc.constantFrom("look", "look", "look", "lost", "skip"),
  unknown: fc.constantFrom("look", "look", "look", "skip"),
};
const record = {
  claims: fc.array(nth, { minLength: 0, maxLength: 3 }),
  outcomes: fc.array(outcome, { minLength: 1, maxLength: 3 }),
  wait: fc.constantFrom(1, 600),
  reply,
};

const kinds = {
  sweep: {
    slice: fc.record({ do: fc.constant("lease"), ...lease }),
    until: fc.constantFrom("mark", "mark", "mark", "publish", "lease"),
  },
  deliver: { messages: some, record: fc.record({ do: fc.constant("record"), ...record }) },
  lease,
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
};

/** How often each kind of step comes: most of the time the way of a delivery, now and then what ends it. */
const weights: Record<keyof typeof kinds, number> = {
  sweep: 30,
  deliver: 25,
  lease: 3,
  publish: 2,
  mark: 3,
  release: 2,
  claim: 3,
  redrive: 5,
  record: 5,
  evidence: 2,
  pass: 30,
  replay: 2,
  resolve: 1,
  cancel: 1,
  optOut: 1,
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

/** Long enough for three rescues, or resends, of the same row. */
export const anyHistory = fc.array(anyStep, { minLength: 20, maxLength: 80, size: "max" });
