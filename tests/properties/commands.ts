import fc from "fast-check";
import type { Disturbance } from "./invocation.ts";
import { type Answer, answers, type Fate } from "./provider.ts";
import { type Shipment, type Status, shipments, world } from "./world.ts";

export type QueueName = "event" | "notification" | "feedback";
export type Provided = { answers: Answer[]; fates: Fate[] };

/** One command of a history. `nth` picks among what there is, modulo how much there is. */
export type Command =
  /** A shipment's status changed so many seconds ago; `ingested`: the ledger knows it at once. */
  | { do: "event"; shipment: Shipment; status: Status; ago: number; ingested: boolean }
  /** So many beats of the schedule, so many seconds apart, and all consumers run. */
  | ({ do: "beats"; beats: number; every: number } & Provided)
  /** Nobody works; `beating`: but for the schedule, which finds nothing to do. */
  | { do: "pass"; seconds: number; beating: boolean }
  | { do: "ingest"; most: number; disturbance: Disturbance | null }
  | { do: "sweep"; disturbance: Disturbance | null }
  /** `swept`: after a sweep, so that there is something to deliver. */
  | ({ do: "deliver"; swept: boolean; most: number; disturbance: Disturbance | null } & Provided)
  /** So many times the messages that failed come again, after three minutes each. */
  | ({ do: "receives"; times: number; disturbance: Disturbance | null } & Provided)
  | { do: "feedback"; most: number; disturbance: Disturbance | null }
  | { do: "thaw"; nth: number }
  | { do: "lose"; queue: "notification" | "feedback"; nth: number }
  | { do: "double"; queue: QueueName; nth: number }
  | { do: "purge" }
  /** SQS refuses so many entries of the next batch. */
  | { do: "refuse"; entries: number }
  | { do: "redrive" }
  | { do: "replay"; nth: number; kind: "replayed" | "redriven" }
  | { do: "cancel"; nth: number }
  | { do: "resolve"; nth: number }
  | { do: "opt out"; shipment: Shipment }
  | { do: "close" }
  | { do: "open" }
  /** What the provider says of a recipient from now on; null: nothing any more. */
  | { do: "recipient"; shipment: Shipment; answer: Answer | null }
  | { do: "back up" }
  | { do: "restore" };

export type CommandOf<Kind extends Command["do"]> = Extract<Command, { do: Kind }>;

/** A history: its commands, and the seed of what else is random in it. */
export type History = { seed: number; commands: Command[] };

/** As a list that can be read, one command a line. */
export const describe = ({ seed, commands }: History): string =>
  [
    `seed ${seed}`,
    ...commands.map((command, place) => {
      const { do: what, ...more } = command;
      return `${place + 1}. ${what} ${JSON.stringify(more)}`;
    }),
  ].join("\n");

const nth = fc.nat({ max: 6 });
const shipment = fc.constantFrom(...shipments);
const most = fc.constantFrom(10, 10, 10, 2, 1);

const disturbance = (most: number, quiet: number) =>
  fc.oneof(
    { weight: quiet, arbitrary: fc.constant(null) },
    {
      weight: 4,
      arbitrary: fc.record<Disturbance>({
        at: fc.nat({ max: most }),
        happens: fc.boolean(),
        effect: fc.constantFrom(
          "dies",
          "dies",
          "freezes",
          "freezes",
          "freezes",
          "fails",
          "fails",
          "overlaps",
          "overlaps",
        ),
        seconds: fc.constantFrom(0, 30, 90, 90, 1000, 4000),
      }),
    },
  );

const said = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Answer>("accepts") },
  { weight: 3, arbitrary: fc.constantFrom<Answer>("accepts silently", "drops", "cannot", "refuses") },
  { weight: 3, arbitrary: fc.constantFrom(...answers) },
);
const fate = fc.record<Fate>({
  events: fc.oneof(
    { weight: 4, arbitrary: fc.constant<Fate["events"]>([]) },
    { weight: 3, arbitrary: fc.constantFrom<Fate["events"]>(["Send"], ["Send", "Delivery"]) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Fate["events"]>(["Bounce"], ["Delivery", "Complaint"], ["Delivery"]),
    },
  ),
  delay: fc.constantFrom(0, 0, 30, 900, 2400),
  twice: fc.boolean(),
});
const provided = {
  answers: fc.array(said, { maxLength: 5 }),
  fates: fc.array(fate, { maxLength: 3 }),
};

const all = (answer: Answer): Answer[] => Array(10).fill(answer);

const kinds = {
  event: {
    shipment,
    status: fc.constantFrom(...(Object.keys(world.A.told) as Status[])),
    ago: fc.constantFrom(0, 0, 0, 60, 1200, 3600),
    ingested: fc.constantFrom(true, true, true, false),
  },
  beats: { beats: fc.integer({ min: 1, max: 3 }), every: fc.constantFrom(60, 60, 180), ...provided },
  pass: {
    seconds: fc.constantFrom(5, 30, 60, 120, 180, 300, 900, 900, 1200, 3600, 90000),
    beating: fc.boolean(),
  },
  ingest: { most, disturbance: disturbance(1, 6) },
  sweep: { disturbance: disturbance(4, 4) },
  deliver: { swept: fc.constantFrom(true, true, false), most, disturbance: disturbance(3, 4), ...provided },
  receives: {
    times: fc.integer({ min: 1, max: 5 }),
    disturbance: disturbance(3, 12),
    answers: fc.oneof(fc.constantFrom(all("cannot"), all("cannot"), all("slow down")), provided.answers),
    fates: provided.fates,
  },
  feedback: { most, disturbance: disturbance(1, 4) },
  thaw: { nth },
  lose: { queue: fc.constantFrom("notification", "notification", "feedback"), nth },
  double: { queue: fc.constantFrom("event", "notification", "notification", "feedback"), nth },
  purge: {},
  refuse: { entries: fc.integer({ min: 1, max: 3 }) },
  redrive: {},
  replay: { nth, kind: fc.constantFrom("replayed", "redriven") },
  cancel: { nth },
  resolve: { nth },
  "opt out": { shipment },
  close: {},
  open: {},
  recipient: { shipment, answer: fc.constantFrom(null, "cannot", "cannot", "refuses", "drops", "slow down") },
  "back up": {},
  restore: {},
} satisfies Record<Command["do"], Record<string, fc.Arbitrary<unknown>>>;

type Weights = Record<Command["do"], number>;

const weights: Weights = {
  event: 12,
  beats: 3,
  pass: 16,
  ingest: 2,
  sweep: 12,
  deliver: 20,
  receives: 4,
  feedback: 5,
  thaw: 10,
  lose: 2,
  double: 3,
  purge: 2,
  refuse: 2,
  redrive: 5,
  replay: 3,
  cancel: 1,
  resolve: 1,
  "opt out": 1,
  close: 1,
  open: 2,
  recipient: 4,
  "back up": 0,
  restore: 0,
};

/** Any history; `more`: other weights. It begins with an event that the ledger knows, since all else needs one. */
export const anyHistory = (more: Partial<Weights> = {}): fc.Arbitrary<History> => {
  const weighed = { ...weights, ...more };
  const command = fc.oneof(
    ...(Object.keys(kinds) as Command["do"][]).map((kind) => ({
      weight: weighed[kind],
      arbitrary: fc.record({
        do: fc.constant(kind),
        ...(kinds[kind] as Record<string, fc.Arbitrary<unknown>>),
      }),
    })),
  ) as fc.Arbitrary<Command>;
  const event = fc.record({ do: fc.constant("event" as const), ...kinds.event, ingested: fc.constant(true) });
  return fc.record({
    seed: fc.nat(),
    commands: fc
      .tuple(event, fc.array(command, { minLength: 6, maxLength: 36, size: "max" }))
      .map(([first, rest]) => [first, ...rest]),
  });
};
