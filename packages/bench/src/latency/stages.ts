/** When each step of one event's way was done, in milliseconds since the epoch. */
export type Way = {
  put: number;
  inEventQueue: number;
  atIngest: number;
  inNotificationQueue: number;
  atDeliver: number;
  claimed: number;
  accepted: number;
  delivered: number;
};

export type Stage = {
  name: string;
  from: keyof Way;
  to: keyof Way;
};

/** From the event to the provider's acceptance, step by step; and what is still written after it. */
export const stages: readonly Stage[] = [
  { name: "bus to event queue", from: "put", to: "inEventQueue" },
  { name: "event queue to ingest", from: "inEventQueue", to: "atIngest" },
  { name: "ingest: record, lease, publish", from: "atIngest", to: "inNotificationQueue" },
  { name: "notification queue to deliver", from: "inNotificationQueue", to: "atDeliver" },
  { name: "deliver: claim", from: "atDeliver", to: "claimed" },
  { name: "deliver: call, provider accepts", from: "claimed", to: "accepted" },
  { name: "event to acceptance", from: "put", to: "accepted" },
  { name: "(acceptance to delivered_at)", from: "accepted", to: "delivered" },
];

/**
 * The milliseconds that each of the ways spent in a stage. Clocks of two processes may differ by a little: a negative
 * time is told as it is.
 */
export const spent = (ways: readonly Way[], { from, to }: Stage): number[] =>
  ways.map((way) => way[to] - way[from]);
