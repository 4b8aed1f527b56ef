import { setTimeout as sleep } from "node:timers/promises";
import { type Spread, spread } from "../statistics.ts";
import type { Cloud } from "../with-cloud.ts";
import { oweRows, unfinished, until } from "./cloud.ts";
import { readRows } from "./rows.ts";

export type Window = {
  rows: number;
  /** Milliseconds after which the provider answers; it accepts after half of them. 0: at once. */
  provider: number;
  /** Milliseconds from the provider's acceptance to `delivered_at`: a crash leaves an email that nobody recorded. */
  acceptedToDelivered: Spread;
  /** Milliseconds from `claimed_at` to `delivered_at`: a crash leaves an unknown outcome, sent or not. */
  claimedToDelivered: Spread;
  /** Notifications a second, all parts on this machine. */
  rate: number;
};

/**
 * How long an outcome is unknown while nothing goes wrong, from the provider's record and the ledger's. Feedback
 * is paused meanwhile: a real provider's events come later than the worker's own record, the local ones at once.
 */
export async function measureWindow(
  cloud: Cloud,
  rows: number,
  provider: number,
  progress: (done: number) => void,
): Promise<Window> {
  const { stack, ledger } = cloud;
  const before = stack.ses.sent.length;
  await stack.sources.feedback.pause();
  const mend = stack.ses.faults.add(() =>
    provider > 0 ? { delay: provider / 2, hold: sleep(provider) } : undefined,
  );
  try {
    await oweRows(cloud, rows);
    const started = performance.now();
    await until(
      "all are delivered",
      async () => {
        await stack.schedule.trigger();
        await sleep(200);
        const left = await unfinished(cloud);
        progress(rows - left);
        return left === 0;
      },
      600,
    );
    const rate = Math.round((rows / (performance.now() - started)) * 1000);
    const accepted = new Map(
      stack.ses.sent.slice(before).map((email) => [email.tags.notification ?? "", email.at]),
    );
    const delivered = (await readRows(ledger, [...accepted.keys()])).flatMap(
      ({ id, claimedAt, deliveredAt }) => {
        const at = accepted.get(id);
        if (claimedAt === null || deliveredAt === null || at === undefined) return [];
        return [{ afterAcceptance: deliveredAt - at, afterClaim: deliveredAt - claimedAt }];
      },
    );
    if (delivered.length !== rows) throw new Error(`${delivered.length} of ${rows} were delivered`);
    return {
      rows,
      provider,
      acceptedToDelivered: spread(delivered.map(({ afterAcceptance }) => afterAcceptance)),
      claimedToDelivered: spread(delivered.map(({ afterClaim }) => afterClaim)),
      rate,
    };
  } finally {
    mend();
    stack.sources.feedback.resume();
  }
}
