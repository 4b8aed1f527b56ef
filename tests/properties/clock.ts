/**
 * The time of a history: whole seconds that pass when a command says so. The ledger's own times move back as much, so
 * that its database's clock, which nobody replaces, sees the same time pass.
 */
export class Clock {
  /** Seconds since the history began. */
  now = 0;

  /** This moment, to be kept: milliseconds by the wall's clock, as if nothing had been skipped. */
  mark(): number {
    return Date.now() + this.now * 1000;
  }

  /** When a kept moment was, as the ledger has it by now: milliseconds since the epoch. */
  asOfNow(mark: number): number {
    return mark - this.now * 1000;
  }
}
