import { claim } from "../deliver/claim.ts";
import { type Outcome, record } from "../deliver/record.ts";
import { recordEvidence } from "../deliver/record-evidence.ts";
import { defaultDurations as durations } from "../durations.ts";
import { type History, pick } from "./history.ts";
import * as model from "./model.ts";
import type { StepOf } from "./steps.ts";

export async function claimBatch(history: History, step: StepOf<"claim">): Promise<void> {
  const { now, notes } = history;
  const messages = step.messages.flatMap((back) => pick(history.messages, back));
  const verdicts = await claim(
    history.database.ledger,
    durations,
    messages.map((message) => ({
      id: message.row.id,
      generation: message.generation,
      messageId: message.messageId,
      sentAt: history.sentAt(message),
    })),
  );
  const queuedAt: number[] = [];
  for (const [place, message] of messages.entries()) {
    const { row } = message;
    // A worker that was faster than the mark proves as much: its row was queued after it was leased.
    const leasedAt = row.leasedUntil > 0 ? row.leasedUntil - durations.lease : null;
    const queued = row.queuedAt ?? leasedAt;
    const verdict = model.claimRow(message, now, history.isClosed);
    const told = verdicts[place]?.verdict;
    // The later message of a row is judged by the row as it was before the batch: it must not claim it again.
    const again = messages.slice(0, place).some((earlier) => earlier.row === row);
    if (again && verdict !== "claimed") history.check(told === "claimed", false, `second claim ${place}`);
    else history.check(told, verdict, `verdict ${place}`);
    if (verdict !== "claimed") continue;
    const answer = verdicts[place];
    history.check(answer?.verdict === "claimed" && answer.token, row.token, `token ${place}`);
    history.claims.push({ row, token: row.token });
    if (queued !== null) queuedAt.push(queued);
  }
  if (queuedAt.length === 0) return;
  const kept = notes.every((note) => note.at <= now - 61);
  notes.push({ at: now, queuedAt: Math.max(...queuedAt), kept });
}

export async function recordBatch(history: History, step: StepOf<"record">): Promise<void> {
  const { now } = history;
  const reply = `P-${step.reply}`;
  const claims = new Map(
    step.claims.flatMap((back) => pick(history.claims, back)).map((one) => [one.row, one.token]),
  );
  const results = [...claims].map(([row, token], place) => ({
    row,
    token,
    kind: step.outcomes[place % step.outcomes.length] ?? "unknown",
  }));
  const fenced = await record(
    history.database.ledger,
    durations,
    results.map(({ row, token, kind }) => ({
      id: row.id,
      token,
      outcome: outcomeOf(kind, step.wait, reply),
    })),
  );
  const expected = results.filter(
    ({ row, token, kind }) =>
      !model.recordRow(row, token, kind, now, step.wait, reply) && !model.isRecorded(row, token, kind, reply),
  );
  history.check([...fenced].toSorted(), expected.map(({ row }) => row.id).toSorted(), "fenced");
}

function outcomeOf(kind: model.ModelOutcome, wait: number, reply: string): Outcome {
  if (kind === "accepted") return { kind, provider: "ses", providerMessageId: reply };
  if (kind === "not_called") return { kind };
  return kind === "throttled" ? { kind, reason: "rate", wait } : { kind, reason: "because" };
}

export async function weighProof(history: History, step: StepOf<"evidence">): Promise<void> {
  const providerMessageId = `P-${step.reply}`;
  for (const row of pick(history.rows, step.row)) {
    const { now } = history;
    const at = step.ago === null ? null : new Date(Date.now() - step.ago * 1000).toISOString();
    const proof = {
      id: row.id,
      at,
      provider: "ses",
      providerMessageId,
      outcome: step.outcome,
      detail: null,
      suppress: step.outcome === "bounced" || step.outcome === "complained",
      evidence: "feedback" as const,
      queuedAt: null,
    };
    const weighed = await recordEvidence(history.database.ledger, [proof]);
    const expected = model.weigh(
      row,
      providerMessageId,
      step.outcome,
      step.ago === null ? null : now - step.ago,
      now,
    );
    if (expected.suppressed) for (const also of history.sameRecipient(row)) also.suppressed = true;
    history.check(weighed, [{ id: row.id, ...expected }], "weighed");
  }
}
