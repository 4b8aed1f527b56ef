import { randomUUID } from "node:crypto";
import type { TestDatabase } from "../../../../tests/support/database.ts";
import { type Claimed, claim, type Message, type Verdict } from "../deliver/claim.ts";
import { type Outcome, record } from "../deliver/record.ts";
import { defaultDurations as durations } from "../durations.ts";
import { type LeaseOptions, lease, type Slice } from "../sweep/lease.ts";

type With = Pick<TestDatabase, "ledger">;

/** A sweep's slice of a hundred rows that looks at everything. */
export const take = ({ ledger }: With, options: Partial<LeaseOptions> = {}): Promise<Slice> =>
  lease(ledger, durations, { limit: 100, watermark: null, queued: "look", unknown: "look", ...options });

/** A batch of one message about a row: of its first generation, fresh from the queue, unless said otherwise. */
export async function receive(
  { ledger }: With,
  id: string,
  message: Partial<Message> = {},
): Promise<Verdict> {
  const [verdict] = await claim(ledger, durations, [
    { id, generation: 0, messageId: `M-${randomUUID()}`, sentAt: Date.now(), ...message },
  ]);
  if (!verdict) throw new Error("no verdict");
  return verdict;
}

/** Claims a row that must be claimable. */
export async function claimRow(database: With, id: string, message: Partial<Message> = {}): Promise<Claimed> {
  const verdict = await receive(database, id, message);
  if (verdict.verdict !== "claimed") throw new Error(`the row was not claimed: ${verdict.verdict}`);
  return verdict;
}

/** Records one outcome; true when it counted. */
export async function recordOne(
  { ledger }: With,
  id: string,
  token: number,
  outcome: Outcome,
): Promise<boolean> {
  return (await record(ledger, durations, [{ id, token, outcome }])).size === 0;
}

export const accepted = { kind: "accepted", provider: "ses", providerMessageId: "P-1" } as const;
