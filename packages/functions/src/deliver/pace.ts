import { TokenBucket } from "limiter";

/** One worker's share of a channel's rate. Lives as long as the container, from invocation to invocation. */
export class Pace {
  readonly #workers: number;
  readonly #lanes = new Map<string, Lane>();

  /**
   * @param options `workers`: the maximum concurrency; each takes its part of the rate
   * @throws RangeError if that is no whole number above 0.
   */
  constructor({ workers }: { workers: number }) {
    if (!Number.isSafeInteger(workers) || workers < 1) {
      throw new RangeError(`A pace is shared by a whole number of workers above 0, not ${workers}`);
    }
    this.#workers = workers;
  }

  /**
   * Waits until one more message of this channel may be sent: first come, first served, and in any span of time
   * no more than one second's share (at least one message) and what the share allows in that span.
   * @param rate the whole channel's, in messages a second, and from now on also that of those who wait already.
   *   Null: unlimited, true at once. 0: nothing may be sent, false at once.
   * @param options `patience`: seconds
   * @returns false, at once, when the turn would come later than `patience` seconds from now, and false when a
   *   changed rate puts it later than that or the signal aborts: nothing was taken.
   * @throws RangeError if the rate is no such number.
   */
  async take(
    channel: string,
    rate: number | null,
    { patience, signal }: { patience: number; signal?: AbortSignal },
  ): Promise<boolean> {
    if (rate !== null && !(rate >= 0 && rate <= Number.MAX_SAFE_INTEGER)) {
      throw new RangeError(`The rate of channel ${channel} must be messages a second or null, not ${rate}`);
    }
    let lane = this.#lanes.get(channel);
    if (rate === null || rate === 0) lane?.settleAll(rate === null);
    if (signal?.aborted || patience < 0 || rate === 0) return false;
    if (rate === null) return true;
    const share = rate / this.#workers;
    if (!lane) {
      lane = new Lane(share);
      this.#lanes.set(channel, lane);
    }
    return lane.take(share, patience, signal);
  }
}

/** `until`: by `performance.now()`, the bucket's own clock. */
type Waiter = { until: number; settle: (granted: boolean) => void };

/**
 * The queue of one channel before its bucket. The bucket's own queue cannot be left, and a token that is taken
 * for somebody who has gone is lost.
 */
class Lane {
  readonly #bucket: TokenBucket;
  /** In the order in which they came. While somebody waits, the bucket holds less than one token. */
  readonly #waiting = new Set<Waiter>();
  #timer: NodeJS.Timeout | undefined;

  constructor(share: number) {
    this.#bucket = new TokenBucket({
      bucketSize: burst(share),
      tokensPerInterval: share,
      interval: "second",
    });
    // The library's buckets start empty; a worker's first message has nothing to wait for.
    this.#bucket.content = this.#bucket.bucketSize;
  }

  take(share: number, patience: number, signal: AbortSignal | undefined): Promise<boolean> {
    if (share !== this.#bucket.tokensPerInterval) this.#changeShare(share);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const abandon = () => waiter.settle(false);
    const waiter: Waiter = {
      until: performance.now() + patience * 1000,
      settle: (granted) => {
        this.#waiting.delete(waiter);
        if (this.#waiting.size === 0) clearTimeout(this.#timer);
        signal?.removeEventListener("abort", abandon);
        resolve(granted);
      },
    };
    signal?.addEventListener("abort", abandon, { once: true });
    this.#waiting.add(waiter);
    this.#serve();
    if (this.#waiting.has(waiter) && this.#isTooLate(waiter, this.#waiting.size - 1)) waiter.settle(false);
    return promise;
  }

  settleAll(granted: boolean): void {
    for (const { settle } of this.#waiting) settle(granted);
  }

  /** Lets through whoever the bucket has a token for, and comes back for the next one. */
  #serve(): void {
    clearTimeout(this.#timer);
    for (const { settle } of this.#waiting) {
      if (!this.#bucket.tryRemoveTokens(1)) {
        // The token's time, whoever will be the first by then.
        this.#timer = setTimeout(() => this.#serve(), this.#bucket.getWaitTime(1));
        return;
      }
      settle(true);
    }
  }

  #changeShare(share: number): void {
    this.#bucket.drip(); // what has come until now came at the old rate
    this.#bucket.tokensPerInterval = share;
    this.#bucket.bucketSize = burst(share);
    let ahead = 0;
    for (const waiter of this.#waiting) {
      if (this.#isTooLate(waiter, ahead)) waiter.settle(false);
      else ahead += 1;
    }
  }

  #isTooLate({ until }: Waiter, ahead: number): boolean {
    const { tokensPerInterval, interval } = this.#bucket;
    const wait = this.#bucket.getWaitTime(1) + (ahead * interval) / tokensPerInterval;
    return performance.now() + wait > until;
  }
}

/** Tokens that a bucket holds: one second's share, and never less than a message, or none could be sent. */
const burst = (share: number) => Math.max(1, share);
