import type { Circumstances, Moot, Notification } from "@owed/ledger";
import { time } from "./text/time.ts";

/** What made a notification moot, with its time; null where the ledger does not say. */
export type Cause =
  | { kind: "event"; id: string; status: string; at: Date }
  | { kind: "suppression"; id: string; cause: "bounced" | "complained" | "opted_out"; at: Date }
  | { kind: "recipient"; at: Date };

/** Why it is moot: at its end (`reason`, `cancelledBy`), or by what a claim would say now. */
export const mootOf = (row: Notification, moot: ReadonlyMap<string, Moot>): Moot | null => {
  if (row.state === "cancelled") return { reason: row.reason ?? "", by: row.cancelledBy ?? "" };
  // What the old sender does with its own, the ledger can't say.
  return waits(row) && row.mode === null ? (moot.get(row.id) ?? null) : null;
};

/** Nobody has begun to send it. */
export const waits = ({ state }: Pick<Notification, "state">): boolean =>
  state === "pending" || state === "leased" || state === "queued";

/** The ids of the suppressions that are named as what made notifications moot. */
export const suppressionsOf = (found: Iterable<Moot | null>): string[] => [
  ...new Set([...found].flatMap((moot) => /^suppression (\d+)$/.exec(moot?.by ?? "")?.[1] ?? [])),
];

export function causeOf(
  { recipientId, channel }: Pick<Notification, "recipientId" | "channel">,
  { reason, by }: Moot,
  circumstances: Circumstances | null,
): Cause | null {
  const [kind, id] = by.split(" ");
  if (kind === "event") {
    const event = circumstances?.events.find((one) => one.id === id);
    return event ? { kind, id: event.id, status: event.status, at: event.occurredAt } : null;
  }
  if (kind === "suppression") {
    const suppression = circumstances?.suppressions.find((one) => one.id === id);
    return suppression ? { kind, ...suppression } : null;
  }
  const itself = circumstances?.subscribers.find(
    (one) => one.recipientId === recipientId && one.channel === channel,
  );
  return kind === "recipient" && reason === "opted_out" && itself?.optedOutAt
    ? { kind, at: itself.optedOutAt }
    : null;
}

/** What happened, as a moment of a notification's history. */
export function causeText(cause: Cause): string {
  switch (cause.kind) {
    case "event":
      return `the shipment came into ${cause.status} (event ${cause.id})`;
    case "recipient":
      return "the recipient opted out";
    case "suppression":
      return `its address was suppressed: ${suppressedFor[cause.cause]} (suppression ${cause.id})`;
  }
}

const suppressedFor = {
  bounced: "a message to it bounced for good",
  complained: "its owner complained about a message",
  opted_out: "its owner opted out",
};

/** Why it is not sent, as the end of a sentence; `rows`: among which the newer one may be that was told instead. */
export function because(
  row: Notification,
  moot: Moot,
  circumstances: Circumstances | null,
  rows: readonly Notification[],
): string {
  const { reason } = moot;
  const had = row.state === "cancelled" ? "had" : "has";
  const cause = causeOf(row, moot, circumstances);
  const at = cause ? ` at ${time(cause.at)}` : "";
  const named = cause?.kind === "suppression" ? ` (suppression ${cause.id})` : "";
  if (reason === "expired") return `it could not be sent before ${time(row.sendBy)}, when it became too late`;
  if (reason === "opted_out")
    return cause ? `the recipient opted out${at}${named}` : `the recipient ${had} opted out`;
  if (reason === "suppressed")
    return cause?.kind === "suppression"
      ? `its address was suppressed${at}, after ${suppressedFor[cause.cause]}${named}`
      : `its address was suppressed, after a message to it bounced for good or was complained about`;
  if (reason === "superseded")
    return cause?.kind === "event"
      ? `the shipment was ${cause.status} by ${time(cause.at)} (event ${cause.id})${toldOf(row, cause.id, rows)}`
      : `a newer status made it untrue${moot.by === "" ? "" : ` (${moot.by})`}`;
  if (reason === "erased") return `the recipient's data ${had} been erased`;
  const said = /^cancelled: (.*)$/s.exec(reason)?.[1];
  return said ? `an operator cancelled it ("${said}")` : `it was cancelled (${reason})`;
}

function toldOf(row: Notification, eventId: string, rows: readonly Notification[]): string {
  const told = rows.filter(
    (other) =>
      other.eventId === eventId && other.recipientId === row.recipientId && other.state === "delivered",
  );
  const best = told.find(({ channel }) => channel === row.channel) ?? told[0];
  return best ? `, which was told by ${best.channel} at ${time(best.deliveredAt)}` : "";
}
