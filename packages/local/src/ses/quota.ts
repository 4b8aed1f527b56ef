import { Rate } from "../provider/rate.ts";

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
  readonly #rate = new Rate();

  constructor({ max24HourSend = 50_000, maxSendRate = 1_000, enforced = false } = {}) {
    this.max24HourSend = max24HourSend;
    this.maxSendRate = maxSendRate;
    this.enforced = enforced;
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
      if (!this.#rate.take(recipients, this.maxSendRate, now)) return "Maximum sending rate exceeded.";
    }
    const minute = Math.floor(now / MINUTE);
    this.#minutes.set(minute, (this.#minutes.get(minute) ?? 0) + recipients);
    this.#last24Hours += recipients;
    return undefined;
  }
}
