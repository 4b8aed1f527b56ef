import { channel } from "node:diagnostics_channel";

/**
 * The steps of each function, in the order of its work, between any two of which its process may die. Told on the
 * diagnostics channel `owed:step`, where whoever wants to stop a function at a step can listen; nobody else pays.
 */
export const steps = {
  ingest: ["received", "recorded", "kept", "leased", "published", "marked", "answered"],
  sweep: ["begun", "asked", "looked", "leased", "published", "marked", "released", "finished"],
  deliver: ["received", "claimed", "calling", "called", "recorded", "reported", "answered"],
  feedback: ["received", "weighed", "kept", "answered"],
} as const;

export type Stage = keyof typeof steps;
export type Step = { [Name in Stage]: `${Name}:${(typeof steps)[Name][number]}` }[Stage];

const told = channel("owed:step");

/** Says that a step is done. Whoever listens is called before this returns. */
export function reached(step: Step): void {
  if (told.hasSubscribers) told.publish(step);
}
