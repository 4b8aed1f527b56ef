/**
 * The time that a test lets pass, in seconds. The ledger's own is moved in the database, and the machine's clock goes
 * on beside it; here is what has been skipped, for those parts of the cloud that keep a time of their own.
 */
export class SkippedTime {
  readonly #skips: { at: number; seconds: number }[] = [];
  #seconds = 0;

  /** Seconds skipped in all. */
  get seconds(): number {
    return this.#seconds;
  }

  /** The cloud's clock: seconds, real ones and skipped ones together. */
  now(): number {
    return Date.now() / 1000 + this.#seconds;
  }

  skip(seconds: number): void {
    this.#skips.push({ at: Date.now(), seconds });
    this.#seconds += seconds;
  }

  /** Seconds skipped since a moment of the machine's clock, in milliseconds. */
  since(moment: number): number {
    return this.#skips.reduce((sum, { at, seconds }) => sum + (at >= moment ? seconds : 0), 0);
  }
}
