/** Who watches which shipment, and what each of them is told of a status: `recipient template`. */
export const world = {
  /** Two recipients; a customs hold owes each a follow-up a day later. */
  A: {
    merchant: "M-1",
    recipients: ["buyer", "agent"],
    told: {
      picked_up: ["buyer picked_up"],
      customs_hold: [
        "buyer customs_hold",
        "buyer customs_hold.still",
        "agent customs_hold",
        "agent customs_hold.still",
      ],
      out_for_delivery: ["buyer out_for_delivery"],
    },
  },
  /** An unknown outcome is held for a person, and nothing is ever too late. */
  B: {
    merchant: "M-hold",
    recipients: ["buyer"],
    told: {
      picked_up: ["buyer picked_up"],
      customs_hold: ["buyer customs_hold", "buyer customs_hold.still"],
      out_for_delivery: ["buyer out_for_delivery"],
    },
  },
  /** Too late after half an hour; and a follow-up after half an hour, true only while the status lasts. */
  C: {
    merchant: "M-soon",
    recipients: ["buyer"],
    told: {
      picked_up: ["buyer picked_up"],
      customs_hold: ["buyer customs_hold", "buyer customs_hold.still"],
      out_for_delivery: ["buyer out_for_delivery"],
    },
  },
} as const;

export type Shipment = keyof typeof world;
export type Status = keyof (typeof world)["A"]["told"];
export const shipments = Object.keys(world) as Shipment[];

/** Seconds; null: never too late. */
type Rule = [
  merchant: string,
  status: Status,
  delay: number,
  sendWithin: number | null,
  onlyWhileCurrent: boolean,
  onUnknown: "resend" | "hold",
];

/** The merchants' own rules for buyers; all others are the migrations' defaults. */
export const ownRules: Rule[] = [
  ["M-hold", "picked_up", 0, null, false, "hold"],
  ["M-hold", "out_for_delivery", 0, null, false, "hold"],
  ["M-soon", "picked_up", 0, 1800, false, "resend"],
  ["M-soon", "out_for_delivery", 1800, 7200, true, "resend"],
];
