import type { Ending } from "@owed/ledger";

// Whether every notification ended as the rules say, judged from what happened: not by the ledger's own view of it.

/** How a notification may end; each has its reason in the ledger. */
export const ends = ["sent", "superseded", "expired", "opted_out", "dead"] as const;
export type End = (typeof ends)[number];

export type Storm = {
  /** When the schedule ran again, and when nothing was left. */
  resumedAt: Date;
  finishedAt: Date;
  /** How often each notification reached its provider, by its id. */
  messages: ReadonlyMap<string, number>;
};

/** Milliseconds by which what one transaction writes may be seen late by another. */
const unseen = 2000;

export function endOf({ state, reason }: Ending): End | null {
  if (state === "delivered") return "sent";
  if (state === "dead") return "dead";
  if (state !== "cancelled") return null;
  return ends.find((end) => end === reason) ?? null;
}

/** What about the endings is not as the rules say: a sentence each. */
export function faultsOf(rows: readonly Ending[], storm: Storm): string[] {
  const bySubscriber = Map.groupBy(rows, ({ subscriberId }) => subscriberId);
  const events = Map.groupBy(rows, ({ shipmentId }) => shipmentId);
  return [
    ...rows.flatMap((row) => {
      const others = bySubscriber.get(row.subscriberId) ?? [];
      return faultsOfRow(row, others, events.get(row.shipmentId) ?? [], storm).map(
        (fault) =>
          `${row.id} (${row.shipmentId}, ${row.recipientId}, ${row.channel}, ${row.template}): ${fault}`,
      );
    }),
    ...[...bySubscriber.values()].flatMap((theirs) =>
      faultsOfPerson(theirs, events.get(theirs[0]?.shipmentId ?? "") ?? [], storm),
    ),
  ];
}

const isNewer = (one: Ending, than: Ending): boolean =>
  one.occurredAt > than.occurredAt ||
  (one.occurredAt.getTime() === than.occurredAt.getTime() && one.eventId > than.eventId);

function faultsOfRow(
  row: Ending,
  ofSubscriber: readonly Ending[],
  ofShipment: readonly Ending[],
  { messages }: Storm,
): string[] {
  const end = endOf(row);
  const sent = messages.get(row.id) ?? 0;
  const faults: string[] = [];
  if (end === null) return [`it is ${row.state} (${row.reason ?? "no reason"}), and has not ended`];
  if (sent !== (end === "sent" ? 1 : 0)) faults.push(`it is ${end}, and reached its provider ${sent} times`);
  const at = row.claimedAt ?? row.cancelledAt ?? row.stoppedAt ?? row.recordedAt;
  const stoppedBy = [row.optedOutAt, row.suppressedAt].filter((time) => time !== null);
  switch (end) {
    case "sent": {
      if (row.sendBy && at >= row.sendBy) faults.push("it was sent after its deadline");
      if (stoppedBy.some((time) => time.getTime() + unseen < at.getTime()))
        faults.push("it was sent although the recipient had opted out");
      if (row.onlyWhileCurrent && row.status !== row.shipmentStatus)
        faults.push("it was sent although the shipment had moved on");
      if (row.newestReplaces && ofSubscriber.some((other) => isNewer(other, row) && stood(other, at)))
        faults.push("it was sent although something newer was owed");
      break;
    }
    case "superseded": {
      const by = ofShipment.find(({ eventId }) => row.cancelledBy === `event ${eventId}`);
      if (!by || !isNewer(by, row)) faults.push(`no newer event superseded it (${row.cancelledBy})`);
      const replaced = row.newestReplaces && ofSubscriber.some((other) => isNewer(other, row));
      const late = by !== undefined && by.recordedAt <= row.recordedAt;
      const movedOn = row.onlyWhileCurrent && row.status !== row.shipmentStatus;
      if (!replaced && !late && !movedOn) faults.push("nothing newer is told to its recipient");
      break;
    }
    case "expired":
      if (!row.sendBy || !row.cancelledAt || row.cancelledAt < row.sendBy)
        faults.push("it expired before its deadline");
      break;
    case "opted_out":
      if (
        !stoppedBy.some(
          (time) => row.cancelledAt !== null && time.getTime() <= row.cancelledAt.getTime() + unseen,
        )
      )
        faults.push("its recipient had not opted out");
      break;
    case "dead":
      if (!/^(no_address|InvalidAddress|InvalidNumber)/.test(row.reason ?? ""))
        faults.push(`it died of ${row.reason}`);
  }
  return faults;
}

/** It was told, or was to be told, at this time. */
function stood(row: Ending, at: Date): boolean {
  if (row.recordedAt.getTime() + unseen > at.getTime() || row.dueAt > at) return false;
  if (endOf(row) === "sent") return true;
  if (endOf(row) === "superseded" || endOf(row) === "expired") return true;
  const ended = row.cancelledAt ?? row.stoppedAt;
  return ended !== null && ended > at;
}

/** How many messages somebody got by a channel about a shipment, and how many the rules say. */
function faultsOfPerson(rows: readonly Ending[], ofShipment: readonly Ending[], storm: Storm): string[] {
  const [first] = rows;
  if (!first) return [];
  const got = rows.reduce((sum, { id }) => sum + (storm.messages.get(id) ?? 0), 0);
  const [least, most] = expected(rows, ofShipment, storm);
  if (got >= least && got <= most) return [];
  const should = least === most ? `${least}` : `${least} or ${most}`;
  return [
    `${first.recipientId} of ${first.shipmentId} got ${got} by ${first.channel}, and should have got ${should}`,
  ];
}

/** By the rules alone, and what happened before the schedule ran again: at least, and at most. */
export function expected(
  rows: readonly Ending[],
  ofShipment: readonly Ending[],
  { resumedAt, finishedAt }: Storm,
): [number, number] {
  let [least, most] = [0, 0];
  for (const row of rows) {
    const [surely, perhaps] = cameLate(row, ofShipment)
      ? [false, false]
      : willBeSent(row, rows, resumedAt, finishedAt);
    least += surely ? 1 : 0;
    most += perhaps ? 1 : 0;
  }
  return [least, most];
}

/** A newer event of the shipment was recorded before it: it tells nobody what is no longer so. */
const cameLate = (row: Ending, ofShipment: readonly Ending[]): boolean =>
  (row.newestReplaces || row.onlyWhileCurrent) &&
  ofShipment.some((other) => isNewer(other, row) && other.recordedAt < row.recordedAt);

/** Surely, and perhaps: a deadline that passes while the backlog drains may be met or missed. */
function willBeSent(
  row: Ending,
  rows: readonly Ending[],
  resumedAt: Date,
  finishedAt: Date,
): [boolean, boolean] {
  if (row.state === "dead") return [false, false];
  const stop = row.optedOutAt ?? row.suppressedAt;
  if (stop && stop < resumedAt) return [false, false];
  if (row.newestReplaces && rows.some((other) => isNewer(other, row))) return [false, false];
  if (row.onlyWhileCurrent && row.status !== row.shipmentStatus) return [false, false];
  if (row.sendBy && row.sendBy <= resumedAt) return [false, false];
  const surely = (row.sendBy === null || row.sendBy > finishedAt) && stop === null;
  return [surely, true];
}
