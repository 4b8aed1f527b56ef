import type { SendResult } from "@owed/channel";
import { type Ledger, recordRecovery, recordTrouble, type Trouble } from "@owed/ledger";
import type { Settings } from "../settings.ts";

type Seen = {
  /** Calls that had failed in a row when the batch was claimed. */
  before: number;
  /** The provider has said something about a message of this batch: it works. */
  answered: boolean;
  failures: number;
  close: Trouble["close"];
  why: string;
  closing: AbortController;
};

/** How a batch's channels fare: who must not be called any more, and what the ledger must know. */
export class ChannelTrouble {
  readonly #ledger: Ledger;
  readonly #settings: Settings;
  readonly #seen = new Map<string, Seen>();

  constructor(ledger: Ledger, settings: Settings) {
    this.#ledger = ledger;
    this.#settings = settings;
  }

  /** `failures`: what the claim said. */
  expect(channel: string, failures: number): void {
    if (this.#seen.has(channel)) return;
    const closing = new AbortController();
    const nothing = { answered: false, failures: 0, close: null, why: "" };
    this.#seen.set(channel, { before: failures, ...nothing, closing });
  }

  note(channel: string, result: SendResult): void {
    const seen = this.#seen.get(channel);
    if (!seen) return;
    if (result.outcome === "accepted" || ("answered" in result && result.answered)) {
      seen.answered = true;
      return;
    }
    // Refused by us: nobody was called. Or a receiver of its own: it says nothing about the others.
    if (result.outcome === "refused") return;
    if (result.outcome === "throttled" && result.scope === "recipient") return;
    seen.failures += 1;
    seen.why = result.reason;
    const told = result.outcome === "throttled" ? closingOf(result, this.#settings) : null;
    seen.close = later(seen.close, told);
    if (told || this.isDown(channel)) seen.closing.abort();
  }

  /** Aborts when this batch has met what closes the channel: whoever waits for a turn need not wait for it any more. */
  closing(channel: string): AbortSignal | undefined {
    return this.#seen.get(channel)?.closing.signal;
  }

  /** So many calls have failed in a row that it is not the row's fault: it must not pay for it with its receives. */
  isDown(channel: string): boolean {
    const seen = this.#seen.get(channel);
    return !!seen && !seen.answered && seen.before + seen.failures >= this.#settings.channel.failures;
  }

  /** Tells the ledger, where there is something to tell: on the clean way there is not. Returns what is closed now, and for what. */
  async report(): Promise<Map<string, string>> {
    const { failures: most, breaker: first, breakerMost: longest } = this.#settings.channel;
    const closed = new Map<string, string>();
    for (const [channel, { before, answered, failures, close: told, why }] of this.#seen) {
      const close = closingFor(told, answered, this.#settings);
      if (close || (failures > 0 && !answered)) {
        const trouble = { channel, answered, failures, close, why };
        const closedFor = await recordTrouble(this.#ledger, { failures: most, first, longest }, trouble);
        if (closedFor) closed.set(channel, closedFor);
      } else if (answered && before > 0) await recordRecovery(this.#ledger, channel);
    }
    return closed;
  }
}

type Throttled = Extract<SendResult, { outcome: "throttled" }>;

/** A rate that was exceeded for a moment closes nothing, unless the provider says for how long; one receiver never does. */
function closingOf({ scope, retryAfterSeconds }: Throttled, { channel }: Settings): Trouble["close"] {
  if (scope === "recipient") return null;
  if (scope !== "rate") return { for: scope, seconds: retryAfterSeconds ?? channel[scope] };
  return retryAfterSeconds === null ? null : { for: "throttled", seconds: retryAfterSeconds };
}

/**
 * An account that is stopped answers nobody: where others of the batch were answered, it was one message's own
 * trouble. A wait that is over before the next beat closes nothing: whatever is in the queue would wait for that.
 */
function closingFor(close: Trouble["close"], answered: boolean, { sweep }: Settings): Trouble["close"] {
  if (close?.for === "account" && answered) return null;
  return close?.for === "throttled" && close.seconds < sweep.every ? null : close;
}

const later = (one: Trouble["close"], other: Trouble["close"]): Trouble["close"] =>
  one && (!other || one.seconds >= other.seconds) ? one : other;
