import { setTimeout as sleep } from "node:timers/promises";
import type { Ledger } from "@owed/ledger";
import type { Cloud } from "../with-cloud.ts";
import { putEvents, register } from "./events.ts";
import type { Way } from "./stages.ts";
import { watchQueues } from "./watch.ts";

/** Seconds for the last of them: a beat of the schedule and what it takes then. */
const patience = 90;

/**
 * Has so many events happen, so many a second, each telling one person by email, and follows each until its provider
 * accepted and the ledger knows.
 *
 * @throws when one of them did not arrive
 */
export async function trace(
  { stack, ledger }: Cloud,
  count: number,
  rate: number,
  progress: (put: number) => void,
): Promise<Way[]> {
  const shipments = await register(ledger, count);
  const before = stack.ses.sent.length;
  const seen = watchQueues(stack);
  try {
    const put = await putEvents(stack, shipments, rate, progress);
    const rows = await delivered(ledger, [...put.keys()]);
    const accepted = new Map(
      stack.ses.sent.slice(before).map((email) => [email.tags.notification ?? "", email.at]),
    );
    return rows.map(({ event, id, claimedAt, deliveredAt }) => {
      const at = (times: ReadonlyMap<string, number>, key: string) => times.get(key) ?? Number.NaN;
      const way: Way = {
        put: at(put, event),
        inEventQueue: at(seen.inEventQueue, event),
        atIngest: at(seen.atIngest, event),
        inNotificationQueue: at(seen.inNotificationQueue, id),
        atDeliver: at(seen.atDeliver, id),
        claimed: claimedAt,
        accepted: at(accepted, id),
        delivered: deliveredAt,
      };
      for (const [step, time] of Object.entries(way))
        if (!(time > 0)) throw new Error(`the event ${event} never came to the step ${step}`);
      return way;
    });
  } finally {
    seen.stop();
  }
}

type Row = { event: string; id: string; claimedAt: number; deliveredAt: number };

/** The events' notifications, once all of them are delivered. */
async function delivered(ledger: Ledger, events: readonly string[]): Promise<Row[]> {
  const end = performance.now() + patience * 1000;
  for (;;) {
    const rows = await ledger.run(
      (sql) => sql<Row[]>`
        SELECT e.id AS event, n.id,
          (extract(epoch FROM n.claimed_at) * 1000)::float8 AS "claimedAt",
          (extract(epoch FROM n.delivered_at) * 1000)::float8 AS "deliveredAt"
        FROM owed.event e JOIN owed.notification n ON n.event_key = e.key
        WHERE e.id = ANY(${[...events]}) AND n.state = 'delivered'`,
      { repeatable: true },
    );
    if (rows.length >= events.length) return rows;
    if (performance.now() > end)
      throw new Error(
        `only ${rows.length} of ${events.length} notifications were delivered in ${patience} s`,
      );
    await sleep(500);
  }
}
