import type { Channel, SendResult } from "@owed/channel";
import {
  type Claimed,
  claim,
  type DeliveryOutcome,
  type Ledger,
  LedgerUnavailable,
  type Unclaimed,
  type Verdict,
} from "@owed/ledger";
import type { SQSRecord } from "aws-lambda";
import type { Settings } from "../settings.ts";
import { acknowledge, type Disposal, failAfter, receiveCount } from "../sqs-batch.ts";
import { reached } from "../step.ts";
import { type Clocks, startStopwatch } from "../stopwatch.ts";
import { type NotificationMessage, parseMessage } from "./message.ts";
import { decide } from "./outcome.ts";
import type { Pace } from "./pace.ts";
import { type Entry, inTime, Recorder } from "./recorder.ts";
import { ChannelTrouble } from "./trouble.ts";

export type Deliver = {
  ledger: Ledger;
  channels: ReadonlyMap<string, Channel>;
  settings: Settings;
  /** This worker's part of each channel's rate. */
  pace: Pick<Pace, "take">;
  /** Seconds this invocation may still run. */
  remaining: () => number;
  clocks?: Clocks | undefined;
  onError: (message: string, error: unknown, notification?: string) => void;
};

type Item = { record: SQSRecord; message: NotificationMessage };
type ClaimedItem = Item & { claimed: Claimed };

export type Delivery = { disposals: Map<SQSRecord, Disposal>; counts: Record<string, number> };

/**
 * A batch as a whole: claims its rows in one statement, sends its groups side by side and each group in order,
 * records the outcomes together, and says for each message whether it is done. Nothing is acknowledged before
 * the ledger has it.
 */
export async function deliver(context: Deliver, records: readonly SQSRecord[]): Promise<Delivery> {
  reached("deliver:received");
  const elapsed = startStopwatch(context.clocks);
  const disposals = new Map<SQSRecord, Disposal>();
  const counts: Record<string, number> = {};
  const tally = (name: string) => {
    counts[name] = (counts[name] ?? 0) + 1;
  };

  const items: Item[] = [];
  for (const record of records) {
    const message = parseMessage(record.body);
    if (message) items.push({ record, message });
    else {
      // Nobody can send it, now or later: whoever forged it gets no provider call and no poison message.
      disposals.set(record, acknowledge);
      tally("malformed");
      context.onError("a message that is not a notification's was acknowledged", record.messageId);
    }
  }

  let verdicts: Verdict[];
  try {
    verdicts = await claim(context.ledger, context.settings.durations, items.map(toClaim));
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error;
    context.onError("the batch comes again: its rows could not be claimed", error);
    // After the queue's own visibility, no sooner: the claim may have been written and its answer lost, and then
    // the message must not come before the send lease has passed.
    for (const { record } of items) disposals.set(record, failAfter(null));
    return { disposals, counts };
  }

  reached("deliver:claimed");
  const claimed: ClaimedItem[] = [];
  for (const [place, item] of items.entries()) {
    const verdict = verdicts[place];
    if (verdict === undefined)
      throw new Error("the ledger answered for fewer messages than it was asked about");
    tally(verdict.verdict);
    if (verdict.verdict === "claimed") claimed.push({ ...item, claimed: verdict });
    else if (verdict.verdict === "unanswered") {
      context.onError("a message comes again: its row could not be judged", verdict.error, item.message.id);
      disposals.set(item.record, failAfter(null));
    } else disposals.set(item.record, disposalOf(verdict.verdict));
  }

  const recorder = new Recorder(
    {
      ledger: context.ledger,
      durations: context.settings.durations,
      gather: 250,
      remaining: context.remaining,
      onError: (error) => context.onError("outcomes are held: they could not be recorded yet", error),
    },
    claimed.length,
  );
  const trouble = new ChannelTrouble(context.ledger, context.settings);
  for (const { claimed: row } of claimed) trouble.expect(row.channel, row.failures);
  /** Seconds in which a call may still begin: enough of the send lease and of the invocation is left to call and to record. */
  const timeToCall = () => {
    const { callBefore, call, reserve } = context.settings.deliver;
    return Math.min(callBefore - elapsed(), context.remaining() - call - reserve);
  };
  /** Waits for the channel's pace, and looks at the clocks last of all, right before the call. */
  const mayCall = async ({ channel, rate }: Claimed) => {
    const closing = trouble.closing(channel);
    const mine = await context.pace.take(channel, rate, {
      patience: timeToCall(),
      ...(closing && { signal: closing }),
    });
    return mine && !closing?.aborted && timeToCall() > 0;
  };

  await Promise.all([...groupsOf(claimed).values()].map((group) => sendGroup(group)));
  await reportTrouble();
  reached("deliver:reported");
  return { disposals, counts };

  async function sendGroup(group: ClaimedItem[]): Promise<void> {
    const entries: Promise<void>[] = [];
    const end = ({ message, claimed }: ClaimedItem, outcome: DeliveryOutcome) =>
      recorder.add({ id: message.id, token: claimed.token, outcome });
    /** Once a row has not been sent, the group's later ones wait in the ledger: as long as it does, or in their old place. */
    let held: { wait?: number } | null = null;
    for (const item of group) {
      // Nobody's receives pay for a neighbour, and nobody overtakes one.
      if (held === null && !(await mayCall(item.claimed))) held = {};
      if (held !== null) {
        tally("notCalled");
        entries.push(finish(item, end(item, { kind: "not_called", ...held }), acknowledge));
        continue;
      }
      reached("deliver:calling");
      const result = await send(item);
      reached("deliver:called");
      tally(result.outcome);
      const { channel } = item.claimed;
      trouble.note(channel, result);
      const { outcome, disposal } = decide(result, {
        receives: receiveCount(item.record),
        lastReceive: context.settings.deliver.receives,
        down: trouble.isDown(channel),
      });
      if (outcome.kind === "throttled") held = { wait: outcome.wait };
      else if (outcome.kind !== "accepted" && outcome.kind !== "unknown") held = {};
      entries.push(finish(item, end(item, outcome), disposal));
    }
    await Promise.all(entries);
  }

  /** What the ledger does not hear now it hears from the next batch that meets the same. */
  async function reportTrouble(): Promise<void> {
    try {
      const closed = await inTime(trouble.report(), context.remaining() - 1);
      for (const [channel, why] of closed) {
        tally("closed");
        context.onError(`the channel ${channel} is closed: ${why}`, null);
      }
    } catch (error) {
      context.onError("a channel's trouble was not recorded", error);
    }
  }

  async function send(item: ClaimedItem): Promise<SendResult> {
    const { channel: name } = item.claimed;
    const channel = context.channels.get(name);
    if (!channel)
      return {
        outcome: "refused",
        reason: `no_channel: this worker has no channel ${name}`,
        answered: false,
      };
    try {
      const signal = AbortSignal.timeout(Math.round(context.settings.deliver.call * 1000));
      return await channel.send(requestOf(item), { signal });
    } catch (error) {
      // A channel says what happened and never throws; where one does, nobody knows, and its neighbours go on.
      context.onError("a channel threw", error, item.message.id);
      return {
        outcome: "unknown",
        reason: `channel_failed: ${error instanceof Error ? error.name : "it threw"}`,
      };
    }
  }

  async function finish(
    { record, message }: ClaimedItem,
    entry: Promise<Entry>,
    disposal: Disposal,
  ): Promise<void> {
    switch (await entry) {
      case "recorded":
        disposals.set(record, disposal);
        return;
      case "fenced":
        // The row has moved on without us: the ledger owns it, and this message says nothing more.
        tally("fenced");
        disposals.set(record, acknowledge);
        return;
      case "unrecorded":
        // Never acknowledged: who meets the row after its send lease makes it unknown, and waits for evidence.
        tally("unrecorded");
        context.onError("an outcome was not recorded before the deadline", null, message.id);
        disposals.set(record, failAfter(null));
    }
  }
}

/** Seconds until a row that somebody keeps locked is looked at again. */
const busyWait = 10;

function disposalOf(verdict: Unclaimed["verdict"]): Disposal {
  if (verdict === "dying") return failAfter(0);
  return verdict === "busy" ? failAfter(busyWait) : acknowledge;
}

const toClaim = ({ record, message }: Item) => ({
  ...message,
  messageId: record.messageId,
  sentAt: Number(record.attributes.SentTimestamp),
});

/** By the ledger's word: a message's own group is whatever its sender wrote. */
function groupsOf(items: readonly ClaimedItem[]): Map<string, ClaimedItem[]> {
  return Map.groupBy(items, ({ claimed }) => claimed.group);
}

const requestOf = ({ message, claimed }: ClaimedItem) => ({
  notificationId: message.id,
  template: claimed.template,
  role: claimed.role,
  address: claimed.address ?? "",
  name: claimed.name,
  locale: claimed.locale,
  timeZone: claimed.timeZone,
  shipment: claimed.shipment,
  merchant: claimed.merchant,
});
