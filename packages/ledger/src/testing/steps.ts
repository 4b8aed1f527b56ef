import fc from "fast-check";
import type { Step } from "./history.ts";
import type { ModelOutcome } from "./model.ts";

const nth = fc.nat({ max: 30 });
const some = fc.array(nth, { minLength: 1, maxLength: 3 });
const outcome = fc.constantFrom<ModelOutcome>(
  "accepted",
  "refused",
  "exhausted",
  "transient",
  "throttled",
  "unknown",
  "not_called",
);
const reply = fc.nat({ max: 2 });

const kinds = {
  lease: {
    limit: fc.integer({ min: 1, max: 5 }),
    queued: fc.constantFrom("look", "look", "lost", "skip"),
    unknown: fc.constantFrom("look", "look", "skip"),
  },
  publish: { lease: nth },
  mark: { leases: some },
  release: { lease: nth, wait: fc.constantFrom(0, 30) },
  claim: { messages: some },
  redrive: { message: nth },
  record: {
    claims: some,
    outcomes: fc.array(outcome, { minLength: 1, maxLength: 3 }),
    wait: fc.constantFrom(1, 600),
    reply,
  },
  evidence: {
    row: nth,
    reply,
    outcome: fc.constantFrom("accepted", "arrived", "bounced", "complained"),
    ago: fc.constantFrom(null, 0, 30),
  },
  pass: { seconds: fc.constantFrom(7, 61, 125, 905, 1205, 1265, 1265, 3605) },
  replay: { rows: some, kind: fc.constantFrom("replayed", "redriven") },
  resolve: { row: nth },
  cancel: { row: nth },
  optOut: { row: nth },
};

/** How often each kind of step comes: most of the time the way of a delivery, now and then what ends it. */
const weights: Record<keyof typeof kinds, number> = {
  lease: 20,
  publish: 14,
  mark: 14,
  release: 3,
  claim: 22,
  redrive: 4,
  record: 14,
  evidence: 2,
  pass: 20,
  replay: 3,
  resolve: 1,
  cancel: 1,
  optOut: 1,
};

/** One step of a history, at random. */
export const anyStep = fc.oneof(
  ...(Object.keys(kinds) as (keyof typeof kinds)[]).map((kind) => ({
    weight: weights[kind],
    arbitrary: fc.record({
      do: fc.constant(kind),
      ...(kinds[kind] as Record<string, fc.Arbitrary<unknown>>),
    }),
  })),
) as fc.Arbitrary<Step>;
