/**
 * The protocol's durations, in seconds. Each must outlast the one before it, or the guarantees fall:
 * a lease outlives the sweep that took it, and ends before SQS forgets the deduplication id; a send lease
 * outlives the function that holds it; a message stays invisible for longer than its worker can live.
 */
export type Durations = {
  /** How long a leased row belongs to its sweep. */
  lease: number;
  /** How long a claimed row belongs to its worker. */
  sendLease: number;
  /** A queued row nobody claimed for so long is looked at: is its message lost? */
  lostAfter: number;
  /** How long an unknown outcome waits for the provider's own evidence. */
  grace: number;
  /** How long a sweep may hold the heartbeat: its function's timeout. */
  heartbeat: number;
  /** The queue must have reported itself empty for so long before that proves a message lost. */
  queueEmpty: number;
  /**
   * After a gap between sweeps, or evidence that came late, resends wait for so long: the provider's events that the
   * feedback consumer gave back, or left when it died, have come again by then (its queue hides them for 180 s).
   */
  settle: number;
};

export const defaultDurations: Durations = {
  lease: 120,
  sendLease: 60,
  lostAfter: 20 * 60,
  grace: 15 * 60,
  heartbeat: 60,
  queueEmpty: 50,
  settle: 200,
};
