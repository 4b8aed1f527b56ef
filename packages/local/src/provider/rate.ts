/** A rate that a provider allows: never more at once than a second's worth, which comes back with time. */
export class Rate {
  #left: number | undefined;
  #at = 0;

  /** Takes `count` from what `perSecond` allows, or nothing and returns false. */
  take(count: number, perSecond: number, now = Date.now()): boolean {
    const left = Math.min(perSecond, (this.#left ?? perSecond) + ((now - this.#at) / 1000) * perSecond);
    this.#at = now;
    this.#left = left < count ? left : left - count;
    return left >= count;
  }
}
