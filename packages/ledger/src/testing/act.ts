import { randomUUID } from "node:crypto";
import type { TestDatabase } from "../../../../tests/support/database.ts";
import { type Claimed, claim, type Message, type Verdict } from "../deliver/claim.ts";
import { type Outcome, record } from "../deliver/record.ts";
import type { Proof } from "../deliver/record-evidence.ts";
import { defaultDurations as durations } from "../durations.ts";
import { type LeaseOptions, lease, type Slice } from "../sweep/lease.ts";
import { type Looked, type LookOptions, lookAgain } from "../sweep/look-again.ts";

type With = Pick<TestDatabase, "ledger">;

/** A sweep's slice of what is owed by email: a hundred rows, the oldest first, unless said otherwise. */
export const take = (
  { ledger }: With,
  { most = 100, ...options }: Partial<LeaseOptions> & { most?: number } = {},
): Promise<Slice> =>
  lease(ledger, durations, {
    shares: [{ channel: "email", most }],
    watermark: null,
    fresh: null,
    ...options,
  });

/** What a slice says when nothing is due. */
export const nothing: Slice = { leased: [], taken: new Map(), cancelled: 0, watermark: null, until: null };

/** A sweep's look at what waits for one: all of it, unless said otherwise. */
export const look = ({ ledger }: With, options: Partial<LookOptions> = {}): Promise<Looked> =>
  lookAgain(ledger, durations, { limit: 100, queued: "look", unknown: "look", ...options });

/** A message about a row: of its first generation, fresh from the queue, unless said otherwise. */
export const message = (id: string, more: Partial<Message> = {}): Message => ({
  id,
  generation: 0,
  messageId: `M-${randomUUID()}`,
  // The queue's clock counts milliseconds: in the one in which a row died it would be sent before that.
  sentAt: Date.now() + 1,
  ...more,
});

/** Claims a batch; what the ledger says to each of its messages. */
export const claimAll = async ({ ledger }: With, ...messages: Message[]): Promise<Verdict["verdict"][]> =>
  (await claim(ledger, durations, messages)).map(({ verdict }) => verdict);

/** A batch of one message about a row. */
export async function receive({ ledger }: With, id: string, more: Partial<Message> = {}): Promise<Verdict> {
  const [verdict] = await claim(ledger, durations, [message(id, more)]);
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

/** What the provider says of a row: that it accepted it, unless said otherwise. */
export const proofOf = (id: string, more: Partial<Proof> = {}): Proof => ({
  id,
  at: null,
  provider: "ses",
  providerMessageId: "P-1",
  outcome: "accepted",
  detail: null,
  suppress: false,
  evidence: "feedback",
  queuedAt: null,
  ...more,
});

export const accepted = { kind: "accepted", provider: "ses", providerMessageId: "P-1" } as const;
