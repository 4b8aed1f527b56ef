import { throttles } from "./neighbours.ts";
import type { Change, Left, Row } from "./record.ts";
import type { Simulation } from "./simulation.ts";
import { transitionOf } from "./transitions.ts";
import { world as watched } from "./world.ts";

/** What a history must not leave behind, as sentences; none when all is well. */
export const wrongIn = (world: Simulation, left: Left): string[] => [
  ...world.wrong,
  ...world.provider.wrong,
  ...lost(world, left),
  ...left.rows.flatMap((row) => unfinished(world, left, row)),
  ...leftInQueues(world),
  ...uncounted(world, left),
  ...left.changes.flatMap((change) => forbidden(change)),
  ...unfenced(left),
  ...stale(world, left),
  ...calledFromTheDead(world, left),
  ...spent(world, left),
  ...throttled(world, left),
];

/** Every event is recorded, with a row for everyone who is to be told. */
function lost({ happened }: Simulation, { rows, events }: Left): string[] {
  const there = new Set([...events, ...rows.map(({ key }) => key)]);
  const expected = happened.flatMap(({ id, shipment, status }) => [
    id,
    ...watched[shipment].told[status].map((who) => `${id} ${who}`),
  ]);
  return expected.filter((key) => !there.has(key)).map((key) => `${key} is lost`);
}

/** Every row ends delivered, and then it was accepted or an operator said so; or cancelled for a reason that is true. */
function unfinished({ provider }: Simulation, { keys, told }: Left, row: Row): string[] {
  const about = (what: string) => [
    `${row.key} is ${row.state}${row.reason ? ` (${row.reason})` : ""} ${what}`,
  ];
  if (row.owed) return about("and owed still");
  if (row.state === "delivered") {
    if (row.evidence === "operator") return [];
    const accepted = provider.accepted.some(
      ({ id, messageId }) => keys.get(id) === row.key && messageId === row.provider_message_id,
    );
    return accepted ? [] : about("and the provider never accepted it");
  }
  if (row.state !== "cancelled") return about("in the end");
  const reasons: Record<string, boolean> = {
    expired: row.too_late,
    opted_out: row.opted_out,
    suppressed: row.suppressed,
    superseded: row.older,
  };
  const byAPerson = told.some(({ id, kind }) => id === row.id && kind === "cancelled");
  return (reasons[row.reason ?? ""] ?? byAPerson) ? [] : about("and that is not true");
}

function leftInQueues({ notifications, events, feedback }: Simulation): string[] {
  return [notifications, events, feedback].flatMap(({ name, messages, dead }) =>
    messages.length + dead.length > 0
      ? [`${messages.length} messages are left in ${name}, and ${dead.length} dead letters`]
      : [],
  );
}

/** Of one notification no more is accepted than once, and once for each possible duplicate that was counted. */
function uncounted({ provider }: Simulation, { keys, told }: Left): string[] {
  const accepted = Map.groupBy(provider.accepted, ({ id }) => keys.get(id) ?? id);
  const resent = Map.groupBy(
    told.filter(({ kind }) => kind === "resent"),
    ({ id }) => keys.get(id) ?? id,
  );
  return [...accepted].flatMap(([key, messages]) => {
    const counted = resent.get(key)?.length ?? 0;
    return messages.length - 1 > counted
      ? [`${key} was accepted ${messages.length} times, and ${counted} possible duplicates were counted`]
      : [];
  });
}

const republishes = new Set<number | null>([8, 14, 16, 19, 22]);

/** No row moves but by a transition, is leased out of turn, leaves the end, is claimed when it is not true any more, or cancelled by what has not made it so. */
function forbidden(change: Change): string[] {
  const { id, was, became, moot, unfounded, moved_delivery: moved, out_of_turn } = change;
  if (change.note) return [];
  const about = `${id}: ${was} to ${became}`;
  const transition = transitionOf(change);
  // What is published again on purpose needs a deduplication id that SQS does not know.
  const grows = became === "pending" && republishes.has(transition) ? 1 : 0;
  return [
    ...(transition === null ? [`${about} is no transition`] : []),
    ...(was !== null && change.generation !== change.was_generation + grows
      ? [`${about} in generation ${change.generation} after ${change.was_generation}`]
      : []),
    ...(moved ? [`${about} moved delivered_at`] : []),
    ...(moot ? [`${about} although it is ${moot}`] : []),
    ...(out_of_turn ? [`${about} out of turn: ${out_of_turn}`] : []),
    ...(unfounded ? [`${about}, which nothing says: ${unfounded}`] : []),
    ...(was !== null && change.token < change.was_token ? [`${about} lowered the token`] : []),
  ];
}

/** What only the holder of the token may write: who leased the row, and who claimed it. */
const fenced: Partial<Record<string, ReadonlySet<number | null>>> = {
  leased: new Set([2, 3]),
  sending: new Set([5, 7, 8, 10, 11, 12, 22]),
};

/** Who lost a row changes nothing: what a lease or a claim leads to is written by nobody else. */
function unfenced({ changes }: Left): string[] {
  const holders = new Map<string, string>();
  return changes.flatMap((change) => {
    const { id, was, became, was_token: before, token, by } = change;
    if (token > before && (became === "leased" || became === "sending")) holders.set(id, by);
    if (token !== before || !fenced[was ?? ""]?.has(transitionOf(change))) return [];
    return holders.get(id) === by
      ? []
      : [`${id}: ${was} to ${became} by ${by || "another"}, who does not hold it`];
  });
}

/** What has died is called again when its message was redriven since, and not by a message that it left behind. */
function calledFromTheDead({ times }: Simulation, { changes }: Left): string[] {
  if (times.restored > 0) return [];
  const died = new Map<string, number>();
  let redriven = -1;
  return changes.flatMap(({ seq, id, was, became, note }) => {
    if (note === "redrive") redriven = seq;
    if (became === "dead") died.set(id, seq);
    return was === "dead" && became === "sending" && redriven < (died.get(id) ?? 0)
      ? [`${id} was dead and is called again, and nobody redrove it`]
      : [];
  });
}

/** Who comes with a message of another generation claims nothing: another message is on its way, or will be. */
function stale({ notifications }: Simulation, { changes }: Left): string[] {
  return changes.flatMap(({ id, was, became, generation, message_id }) => {
    if (became !== "sending" || was === "sending") return [];
    const said = notifications.said.get(message_id ?? "")?.() ?? "nothing";
    return said === JSON.stringify({ id, generation })
      ? []
      : [`${id} in generation ${generation} was claimed by a message that says ${said}`];
  });
}

/** A generation has one message, and a message five receives: no more claims than that; and no call without a claim. */
function spent({ provider, times }: Simulation, { changes }: Left): string[] {
  const claims = changes.filter(({ became, was }) => became === "sending" && was !== "sending");
  const most = 5 * (1 + times.redriven + times.doubled);
  const often = [...Map.groupBy(claims, ({ id, generation }) => `${id}.${generation}`)].flatMap(
    ([which, { length }]) => (length > most ? [`${which} was claimed ${length} times`] : []),
  );
  const ofRow = Map.groupBy(claims, ({ id }) => id);
  const called = [...Map.groupBy(provider.calls, ({ id }) => id)].flatMap(([id, { length }]) =>
    length > (ofRow.get(id)?.length ?? 0) ? [`${id} was called ${length} times without as many claims`] : [],
  );
  return [...often, ...called];
}

/** Every call costs an attempt, but for a throttled one, and one that met a provider which is down for everybody. */
function throttled({ provider, times }: Simulation, { rows }: Left): string[] {
  if (times.restored > 0) return [];
  return rows.flatMap(({ id, key, attempts }) => {
    const calls = provider.calls.filter((call) => call.id === id);
    if (calls.some(({ by }) => by.disturbed)) return [];
    const costly = calls.filter(({ answer }) => !throttles.has(answer) && answer !== "is down").length;
    return attempts < costly ? [`${key} has ${attempts} attempts after ${costly} calls`] : [];
  });
}
