import { randomUUID } from "node:crypto";
import { claim, defaultDurations, type Ledger, lease, markQueued, record } from "@owed/ledger";

// A container works for hours, and its connections have planned each statement once: what is measured begins there.

const nobody = { id: randomUUID(), generation: 0, token: 0, group: "" };
const message = { ...nobody, messageId: randomUUID(), sentAt: Date.now() };

/** A sweep's ledger: nothing is leased. */
export async function warmSweeper(ledger: Ledger): Promise<void> {
  const nothing = { shares: [{ channel: "none", most: 0 }], watermark: null, fresh: null };
  await onBoth(() => lease(ledger, defaultDurations, nothing));
  await onBoth(() => markQueued(ledger, defaultDurations, [nobody]));
}

/** A worker's ledger: nothing is claimed. */
export async function warmWorker(ledger: Ledger): Promise<void> {
  await onBoth(() => claim(ledger, defaultDurations, [message]));
  await onBoth(() => record(ledger, defaultDurations, [{ ...nobody, outcome: accepted() }]));
}

/** A ledger has two connections, and each plans for itself. */
const onBoth = (work: () => Promise<unknown>) => Promise.all([work(), work()]);

/** What SES says, in its own length. */
export const accepted = () => ({
  kind: "accepted" as const,
  provider: "ses",
  providerMessageId: `0100018f3b0c8e5a-${randomUUID()}-000000`,
});
