import { askQueue } from "@owed/functions/ask-queue";
import { type Record, readRecords } from "./records.ts";
import type { Owed } from "./traffic.ts";
import type { World } from "./world/world.ts";

export type Judgement = {
  ok: boolean;
  notifications: number;
  delivered: number;
  /** Owed to somebody who was not told: no row, no end, or an end without an email. */
  lost: number;
  /** Emails beyond the first for one notification, and those of them that the ledger has not counted as possible. */
  duplicates: number;
  uncounted: number;
  /** Resends and replays that the ledger counts as possible duplicates. */
  counted_unknown: number;
  /** Whatever a guarantee says that must not be, the lost and uncounted ones among them, in words. */
  problems: string[];
};

/** Compares the whole ledger with what the events owe, and with every email that the provider accepted. */
export async function judge(world: World, owed: Owed): Promise<Judgement> {
  const records = await readRecords(world.database);
  const emails = Map.groupBy(world.ses.sent, ({ tags }) => tags.notification ?? "none");
  const sum = (of: (record: Record) => number) => records.reduce((total, record) => total + of(record), 0);
  const sent = ({ id }: Record) => emails.get(id)?.length ?? 0;
  const beyond = (record: Record) => Math.max(0, sent(record) - 1);

  const missing = [...owed].flatMap(([event, recipients]) =>
    recipients
      .filter((recipient) => !records.some((row) => row.event === event && row.recipient === recipient))
      .map((recipient) => `${event} owes ${recipient} a notification that the ledger does not have`),
  );
  const untold = records.flatMap((record) => {
    const why = whyUntold(record, sent(record));
    return why === null ? [] : [`${name(record)}: ${why}`];
  });
  const uncounted = records.flatMap((record) => {
    const more = beyond(record) - record.counted;
    return more > 0
      ? [`${name(record)}: ${sent(record)} emails, ${record.counted} counted as possible duplicates`]
      : [];
  });
  const problems = [
    ...missing,
    ...untold,
    ...uncounted,
    ...records.flatMap((record) => record.broken.map((rule) => `${name(record)}: ${rule}`)),
    ...records.flatMap((record) =>
      sent(record) > record.attempts
        ? [`${name(record)}: ${sent(record)} emails, ${record.attempts} attempts`]
        : [],
    ),
    ...[...emails.keys()]
      .filter((id) => !records.some((record) => record.id === id))
      .map((id) => `an email carries the notification ${id}, which the ledger does not have`),
    ...(await leftovers(world)),
  ];
  return {
    ok: problems.length === 0,
    notifications: records.length,
    delivered: records.filter(({ state }) => state === "delivered").length,
    lost: missing.length + untold.length,
    duplicates: sum(beyond),
    uncounted: uncounted.length,
    counted_unknown: sum(({ counted }) => counted),
    problems,
  };
}

const name = ({ id, state, told }: Record) =>
  `${id} (${state}${told.length > 0 ? `; ${told.join(", ")}` : ""})`;

/** Why a recipient may not have been told; null when the ledger is right. */
function whyUntold({ state, evidence, reason, overtaken }: Record, sent: number): string | null {
  switch (state) {
    case "delivered":
      return sent > 0 || evidence === "operator" ? null : `delivered on ${evidence}, without an email`;
    case "dead":
      return `dead, though nothing refuses it any more: ${reason}`;
    case "cancelled":
      return reason === "superseded" && overtaken ? null : `cancelled: ${reason}`;
    default:
      return "it has no end";
  }
}

/** Messages that nobody will handle. */
async function leftovers({ observer, queues }: World): Promise<string[]> {
  const problems: string[] = [];
  for (const [name, { url, deadLetters }] of Object.entries(queues))
    for (const [which, QueueUrl] of [
      [name, url],
      [`dead-letter queue of ${name}`, deadLetters.url],
    ] as const) {
      const { total: left } = await askQueue(observer, QueueUrl);
      if (left > 0) problems.push(`${left} messages are left in the ${which} queue`);
    }
  return problems;
}
