import type { Step } from "@owed/functions/step";
import fc from "fast-check";
import { all as faults } from "./faults/index.ts";
import { everyStep } from "./steps.ts";
import { allConsumers, type Consumer } from "./world/consumers.ts";

/** What happens in a history. Numbers that pick do so modulo how many there are. */
export type Action =
  /** New shipments with an event each. */
  | { do: "owe"; shipments: number; recipients: number }
  /** Something newer happens to a shipment. */
  | { do: "happen"; shipment: number }
  | { do: "refuse" }
  /** Minutes pass, with a beat at the end of each, or with none but the last. */
  | { do: "pass"; minutes: number; beats: "each" | "last" | "none" }
  /** So many sweeps at once. */
  | { do: "beat"; sweeps: number }
  /** The consumers work until there is nothing to do, or they are left alone after a moment. */
  | { do: "work"; seconds: number }
  | { do: "kill"; step: Step; nth: number }
  | { do: "freeze"; step: Step; nth: number; minutes: number }
  /** Begins something that goes wrong; it ends after so many actions. */
  | { do: "fault"; fault: string; draws: number; lasts: number }
  | { do: "down"; consumer: Consumer }
  | { do: "up"; consumer: Consumer }
  | { do: "again"; consumer: Consumer }
  | { do: "redrive" }
  | { do: "replay" };

export type History = readonly Action[];

const step = fc.constantFrom(...everyStep);
const consumer = fc.constantFrom(...allConsumers);
const nth = fc.constantFrom(1, 1, 1, 2, 3);

const action = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("owe"),
      shipments: fc.integer({ min: 1, max: 8 }),
      recipients: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("happen"), shipment: fc.nat({ max: 20 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("refuse") }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("pass"),
      minutes: fc.constantFrom(1, 1, 2, 3, 5, 16, 21, 60),
      beats: fc.constantFrom("each", "last", "last", "none"),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("beat"), sweeps: fc.constantFrom(1, 1, 2) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("work"), seconds: fc.constantFrom(0.05, 0.3, 2, 5) }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant("kill"), step, nth }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("freeze"),
      step,
      nth,
      minutes: fc.constantFrom(1, 3, 10, 10, 40, 120),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant("fault"),
      fault: fc.constantFrom(...faults.map(({ name }) => name)),
      draws: fc.nat(),
      lasts: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("down"), consumer }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("up"), consumer }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("again"), consumer }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("redrive") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("replay") }) },
) as fc.Arbitrary<Action>;

/** A history begins with something that is owed. */
export const anyHistory: fc.Arbitrary<History> = fc
  .tuple(
    fc.record({
      do: fc.constant("owe" as const),
      shipments: fc.integer({ min: 2, max: 8 }),
      recipients: fc.integer({ min: 1, max: 4 }),
    }),
    fc.array(action, { minLength: 8, maxLength: 24, size: "max" }),
  )
  .map(([first, rest]) => [first, ...rest]);

/** One line an action. */
export const describe = (history: History): string =>
  history
    .map(({ do: what, ...rest }, place) => {
      const parts = Object.entries(rest).map(([name, value]) => `${name} ${value}`);
      return `  ${String(place + 1).padStart(2)}. ${[what, ...parts].join(", ")}`;
    })
    .join("\n");
