const MINUTE = 60_000;
const DAY_IN_MINUTES = 24 * 60;

/** What GetSendQuota reports, counted in recipients as SES does, and the throttle that can enforce it. */
export class SendQuota {
  max24HourSend: number;
  /** Recipients a second. */
  maxSendRate: number;
  /** Whether sends beyond the quota are refused; they are only counted otherwise. */
  enforced: boolean;
  /** Recipients by minute, the oldest first. */
  readonly #minutes = new Map<number, number>();
  #last24Hours = 0;
  /** How much of a second's rate is left, and when that was so. */
  #left: number;
  #leftAt = 0;

  constructor({ max24HourSend = 50_000, maxSendRate = 1_000, enforced = false } = {}) {
    this.max24HourSend = max24HourSend;
    this.maxSendRate = maxSendRate;
    this.enforced = enforced;
    this.#left = maxSendRate;
  }

  /** Recipients accepted in the last 24 hours, to the minute. */
  sentLast24Hours(now = Date.now()): number {
    const oldest = Math.floor(now / MINUTE) - DAY_IN_MINUTES;
    for (const [minute, count] of this.#minutes) {
      if (minute > oldest) break;
      this.#minutes.delete(minute);
      this.#last24Hours -= count;
    }
    return this.#last24Hours;
  }

  /** Counts a send, or returns why SES throttles it. */
  take(recipients: number, now = Date.now()): string | undefined {
    if (this.enforced) {
      if (this.sentLast24Hours(now) + recipients > this.max24HourSend) return "Daily message quota exceeded.";
      this.#left = Math.min(this.maxSendRate, this.#left + ((now - this.#leftAt) / 1000) * this.maxSendRate);
      this.#leftAt = now;
      if (this.#left < recipients) return "Maximum sending rate exceeded.";
      this.#left -= recipients;
    }
    const minute = Math.floor(now / MINUTE);
    this.#minutes.set(minute, (this.#minutes.get(minute) ?? 0) + recipients);
    this.#last24Hours += recipients;
    return undefined;
  }
}
