import type { SmsProof } from "./event.ts";

type Verdict = Pick<SmsProof, "outcome" | "detail" | "suppress">;

const accepted: Verdict = { outcome: "accepted", detail: null, suppress: false };
const failed: Verdict = { outcome: "bounced", detail: null, suppress: false };

/**
 * What the last event about a text says, by its type (user guide of AWS End User Messaging SMS, "Event types for SMS,
 * MMS, and voice").
 *
 * A number is written off where it is none (`INVALID`), or where its owner or carrier blocks what we send to it
 * (`BLOCKED`): sending on would only cost. The rest may be otherwise next time.
 */
const verdicts: ReadonlyMap<string, Verdict> = new Map<string, Verdict>([
  ["TEXT_QUEUED", accepted],
  ["TEXT_PENDING", accepted],
  ["TEXT_SENT", accepted],
  // Where carriers report no deliveries the carrier's acceptance is all that is ever known; AWS uses the two alike.
  ["TEXT_SUCCESSFUL", { outcome: "arrived", detail: "SUCCESSFUL: the carrier took it", suppress: false }],
  ["TEXT_DELIVERED", { outcome: "arrived", detail: null, suppress: false }],
  ["TEXT_INVALID", { ...failed, detail: "INVALID: no such number", suppress: true }],
  ["TEXT_BLOCKED", { ...failed, detail: "BLOCKED: by the recipient or carrier", suppress: true }],
  ["TEXT_CARRIER_BLOCKED", { ...failed, detail: "CARRIER_BLOCKED: for its content" }],
  ["TEXT_SPAM", { ...failed, detail: "SPAM: the carrier took it for that" }],
  ["TEXT_INVALID_MESSAGE", { ...failed, detail: "INVALID_MESSAGE: the text was not taken" }],
  ["TEXT_PROTECT_BLOCKED", { ...failed, detail: "PROTECT_BLOCKED: by our own configuration" }],
  ["TEXT_TTL_EXPIRED", { ...failed, detail: "TTL_EXPIRED: not sent in time" }],
  ["TEXT_UNREACHABLE", { ...failed, detail: "UNREACHABLE: the phone is off or out of reach" }],
  ["TEXT_CARRIER_UNREACHABLE", { ...failed, detail: "CARRIER_UNREACHABLE: trouble in its network" }],
  // After 72 hours without news AWS says so: nobody knows what happened, and an arrival stands.
  ["TEXT_UNKNOWN", { ...accepted, detail: "UNKNOWN: no news of the delivery" }],
]);

/**
 * The verdict of an event; null for a type that says nothing about what became of a text. One that is not the last
 * proves the acceptance alone: AWS or the carrier goes on.
 */
export function verdictOfEvent(type: string, isFinal: boolean): Verdict | null {
  const verdict = verdicts.get(type) ?? null;
  // Nothing comes after a delivery.
  if (verdict === null || isFinal || type === "TEXT_DELIVERED") return verdict;
  return verdict.outcome === "bounced"
    ? { ...accepted, detail: `delayed: ${type.slice("TEXT_".length)}` }
    : accepted;
}
