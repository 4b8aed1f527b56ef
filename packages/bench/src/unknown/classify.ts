import type { Row } from "./rows.ts";

/** Where in its work the kill met a notification, in the order of the work. */
export const moments = [
  "before the claim",
  "claimed, provider not called",
  "during the call",
  "accepted, not recorded",
  "recorded",
] as const;
export type Moment = (typeof moments)[number];

/** What the reconciliation made of it; proven: by the provider's own event. */
export const fates = [
  "nothing to do",
  "sent by the next worker",
  "proven before anyone missed it",
  "unknown, then proven",
  "resent, sent once",
  "resent, a counted duplicate",
  "an uncounted duplicate",
  "lost",
  "not finished",
] as const;
export type Fate = (typeof fates)[number];

/** What was known of a notification once its worker was dead and everything it had begun had ended. */
export type AtKill = {
  row: Pick<Row, "state" | "attempts">;
  /** When the kill came, the provider had its request, or had accepted it. */
  called: boolean;
  accepted: boolean;
  /** Emails that the provider accepted from the dead worker, also after its end. */
  emails: number;
};

export function momentOf({ row, called, accepted, emails }: AtKill): Moment {
  if (row.state === "delivered") return "recorded";
  if (accepted) return "accepted, not recorded";
  // A request that was on its way when its worker died counts as called.
  if (called || emails > 0) return "during the call";
  return row.attempts > 0 ? "claimed, provider not called" : "before the claim";
}

/** From the row and the number of emails that the provider accepted for it, both at the end. */
export function fateOf(
  moment: Moment,
  row: Pick<Row, "state" | "resends" | "evidence" | "wasUnknown">,
  emails: number,
): Fate {
  const ended = ["delivered", "dead", "cancelled"].includes(row.state);
  if (emails === 0) return ended ? "lost" : "not finished";
  if (emails - 1 > row.resends) return "an uncounted duplicate";
  if (row.state !== "delivered") return "not finished";
  if (emails > 1) return "resent, a counted duplicate";
  if (row.resends > 0) return "resent, sent once";
  if (moment === "recorded") return "nothing to do";
  // Sent after the kill, the event may still have come before the next worker's own record.
  if (moment === "before the claim") return "sent by the next worker";
  if (row.evidence !== "feedback") return "sent by the next worker";
  return row.wasUnknown ? "unknown, then proven" : "proven before anyone missed it";
}

export type Case = { moment: Moment; fate: Fate };

/** How many notifications of each moment met each fate; empty columns are left out. */
export function tabulate(cases: readonly Case[]): { fates: Fate[]; rows: Record<Moment, number[]> } {
  const met = fates.filter((fate) => cases.some((one) => one.fate === fate));
  const count = (moment: Moment) =>
    met.map((fate) => cases.filter((one) => one.moment === moment && one.fate === fate).length);
  return {
    fates: met,
    rows: Object.fromEntries(moments.map((moment) => [moment, count(moment)])) as Record<Moment, number[]>,
  };
}
