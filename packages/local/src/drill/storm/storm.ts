import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { countEvents, type Ending, Ledger, listEndings, proveDelivery } from "@owed/ledger";
import { seededRandom } from "../../random.ts";
import type { Stack } from "../../stack.ts";
import { goOn, standStill } from "../stand-still.ts";
import { type End, endOf, ends, faultsOf } from "./judge.ts";
import { outage, planStorm } from "./plan.ts";
import { play, register } from "./play.ts";
import { setRules } from "./rules.ts";

export type StormOptions = {
  /** Shipments whose status changes while the schedule stands still. */
  shipments: number;
  /** Seconds that stand for a minute. */
  minute: number;
  seed?: number;
  progress: (what: string, done: number, total: number) => void;
};

/** Messages a second that each channel's provider takes. */
export const rates = { email: 400, sms: 60, webhook: 100 } as const;
type ChannelName = keyof typeof rates;
const channels = ["email", "sms", "webhook"] as const satisfies ChannelName[];

export type StormReport = {
  seed: number;
  shipments: number;
  events: number;
  /** Everything that was owed: each of it has ended in one way. */
  rows: number;
  byChannel: Record<ChannelName, Record<End, number> & { rows: number; unfinished: number }>;
  /** Why, with how often. */
  reasons: Record<string, number>;
  people: number;
  messages: number;
  /** The most messages that a provider got in one second. */
  busiestSecond: Record<ChannelName, number>;
  drainedIn: number;
  /** What is not as the rules say. */
  faults: string[];
  ok: boolean;
};

/**
 * Seventy minutes in which the schedule does not run, while shipments change their status several times, follow-ups fall
 * due, deadlines pass, and people opt out; then the drain, by three channels with rates of their own; then the account:
 * how everything that was owed has ended, and whether that is what the rules say.
 */
export async function storm(
  stack: Stack,
  { shipments, minute, seed = randomInt(1, 2 ** 32), progress }: StormOptions,
): Promise<StormReport> {
  const ledger = new Ledger(stack.ledgerOptions);
  try {
    const plan = planStorm(shipments, seededRandom(seed), stack.webhooks.addressOf);
    await register(ledger, plan.shipments, (done) => progress("registered", done, shipments));
    await setRules(ledger, minute);
    await standStill(stack, ledger);
    await play({ stack, ledger }, plan, minute, (done) => progress("minutes", done, outage));
    await recorded(ledger, plan.events, (done) => progress("events", done, plan.events));
    const resumedAt = new Date();
    await goOn(stack, ledger);
    const { rows } = await proveDelivery(ledger);
    await drained(ledger, (left) => progress("ended", rows - left, rows));
    const finishedAt = new Date();
    const endings = await all(ledger);
    const messages = received(stack);
    const faults = faultsOf(endings, { resumedAt, finishedAt, messages });
    const known = new Set(endings.map(({ id }) => id));
    for (const id of messages.keys()) if (!known.has(id)) faults.push(`a message of no notification: ${id}`);
    const events = new Set(endings.map(({ eventId }) => eventId)).size;
    if (events !== plan.events) faults.push(`${plan.events} events happened, and ${events} told somebody`);
    return {
      ...{ seed, shipments, events, rows: endings.length, faults },
      ...account(endings),
      people: new Set(endings.map(({ subscriberId }) => subscriberId)).size,
      messages: [...messages.values()].reduce((sum, times) => sum + times, 0),
      busiestSecond: busiest(stack),
      drainedIn: (finishedAt.getTime() - resumedAt.getTime()) / 1000,
      ok: faults.length === 0,
    };
  } finally {
    await ledger.close();
  }
}

function account(endings: readonly Ending[]): Pick<StormReport, "byChannel" | "reasons"> {
  const none = () => ({
    ...{ rows: 0, unfinished: 0, sent: 0, superseded: 0, expired: 0, opted_out: 0, dead: 0 },
  });
  const byChannel = { email: none(), sms: none(), webhook: none() };
  const reasons: Record<string, number> = {};
  for (const row of endings) {
    const channel = channels.find((name) => name === row.channel);
    if (!channel) throw new Error(`the storm has no channel ${row.channel}`);
    const end = endOf(row);
    byChannel[channel].rows += 1;
    byChannel[channel][end ?? "unfinished"] += 1;
    if (end === "sent") continue;
    const why = whyOf(row, end);
    reasons[why] = (reasons[why] ?? 0) + 1;
  }
  return { byChannel, reasons };
}

/** `expired, by deadline`, `dead: no_address`. */
function whyOf({ state, reason, cancelledBy }: Ending, end: End | null): string {
  const word = (reason ?? "").replace(/:.*$/s, "");
  const what = end ?? state;
  return `${what}${word === what ? "" : `: ${word}`}${cancelledBy ? `, by ${cancelledBy.split(" ")[0]}` : ""}`;
}

/** How often each notification reached its provider. */
function received({ ses, sms, webhooks }: Stack): Map<string, number> {
  const times = new Map<string, number>();
  const add = (id = "none") => times.set(id, (times.get(id) ?? 0) + 1);
  for (const { tags } of ses.sent) add(tags.notification);
  for (const { context } of sms.sent) add(context.notification);
  for (const { id } of webhooks.received) add(id);
  return times;
}

function busiest({ ses, sms, webhooks }: Stack): StormReport["busiestSecond"] {
  const most = (times: readonly { at: number }[]) =>
    Math.max(
      0,
      ...[...Map.groupBy(times, ({ at }) => Math.floor(at / 1000)).values()].map((of) => of.length),
    );
  return { email: most(ses.sent), sms: most(sms.sent), webhook: most(webhooks.received) };
}

async function all(ledger: Ledger): Promise<Ending[]> {
  const endings: Ending[] = [];
  for (;;) {
    const after = endings.at(-1)?.id;
    const page = await listEndings(ledger, after === undefined ? {} : { after });
    if (page.length === 0) return endings;
    endings.push(...page);
  }
}

/** Seconds without any movement after which whoever waits gives up: the account then says what is missing. */
const patience = 120;

/** Waits until all events are in the ledger. */
async function recorded(ledger: Ledger, events: number, progress: (done: number) => void): Promise<void> {
  await settle(async () => {
    const now = await countEvents(ledger);
    progress(now);
    return events - now;
  });
}

/** Waits until nothing is unfinished. */
async function drained(ledger: Ledger, progress: (left: number) => void): Promise<void> {
  await settle(async () => {
    const { unfinished } = await proveDelivery(ledger);
    progress(unfinished);
    return unfinished;
  });
}

/** Looks how much is left until nothing is, or until nothing moves any more. */
async function settle(look: () => Promise<number>): Promise<void> {
  let before = Number.POSITIVE_INFINITY;
  for (let moved = performance.now(); performance.now() - moved < patience * 1000; ) {
    const left = await look();
    if (left === 0) return;
    if (left < before) moved = performance.now();
    before = left;
    await sleep(500);
  }
}

export { ends };
