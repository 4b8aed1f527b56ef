import type { Command, History } from "./commands.ts";
import type { Disturbance } from "./invocation.ts";

const event = (shipment: "A" | "B" | "C"): Command => ({
  do: "event",
  shipment,
  status: "picked_up",
  ago: 0,
  ingested: true,
});
const deliver = (more: Partial<Extract<Command, { do: "deliver" }>> = {}): Command => ({
  do: "deliver",
  swept: true,
  most: 10,
  disturbance: null,
  answers: [],
  fates: [],
  ...more,
});
const freeze = (at: number, happens: boolean, seconds: number): Disturbance => ({
  at,
  happens,
  effect: "freezes",
  seconds,
});
const pass = (seconds: number): Command => ({ do: "pass", seconds, beating: true });
const sweep: Command = { do: "sweep", disturbance: null };

/** What chance alone would leave out now and then: histories whose transitions every hunt reaches. */
export const examples: History[] = [
  // SQS refuses the message, and later its worker is throttled.
  [{ do: "refuse", entries: 1 }, event("A"), sweep, pass(60), deliver({ answers: ["slow down"] })],
  // A worker stands still before its call, and accepts when its row has long been sent again.
  [event("A"), deliver({ disturbance: freeze(1, false, 1000) }), { do: "thaw", nth: 0 }],
  // It stands still for less than its lease, and its clocks tell.
  [event("A"), deliver({ disturbance: freeze(0, true, 50) }), { do: "thaw", nth: 0 }],
  // An error at each receive; the dead letter comes back, and is refused.
  [
    event("A"),
    { do: "receives", times: 5, disturbance: null, answers: Array(5).fill("cannot"), fates: [] },
    deliver(),
    { do: "redrive" },
    deliver({ answers: ["refuses"] }),
    { do: "replay", nth: 0, kind: "replayed" },
  ],
  // Nobody answers, and nothing proves it: held for a person, who says that it was sent.
  [event("B"), deliver({ answers: ["drops"] }), pass(900), sweep, { do: "resolve", nth: 0 }],
  // Nobody answers, but the provider's own event does; of another it never comes, and it is sent again.
  [
    event("A"),
    event("C"),
    deliver({
      answers: ["accepts silently", "accepts silently"],
      fates: [{ events: ["Send"], delay: 30, twice: true }],
    }),
    { do: "beats", beats: 1, every: 60, answers: [], fates: [] },
    pass(900),
    sweep,
  ],
  // The messages are lost: at the second look, when the queue has proved empty twice.
  [
    event("A"),
    sweep,
    { do: "double", queue: "notification", nth: 0 },
    pass(1200),
    sweep,
    { do: "purge" },
    pass(1200),
    sweep,
    pass(60),
    sweep,
  ],
  // A sweep dies before the mark, and the next one's message is not swallowed any more: one kills the row, and the other
  // is its sibling.
  [
    event("A"),
    { do: "sweep", disturbance: { at: 3, happens: true, effect: "dies", seconds: 0 } },
    pass(360),
    deliver({ most: 1, answers: ["refuses"] }),
    ...Array(5).fill(deliver({ most: 1 })),
  ],
  // A worker vanishes, and nobody wants the message any more.
  [
    event("A"),
    deliver({ disturbance: { at: 1, happens: false, effect: "dies", seconds: 0 } }),
    pass(60),
    sweep,
    { do: "opt out", shipment: "A" },
  ],
].map((commands) => ({ seed: 1, commands: commands as Command[] }));
