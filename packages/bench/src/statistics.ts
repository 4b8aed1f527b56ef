/**
 * The value below or at which this share of the values lies (nearest rank, so it is one that was measured).
 *
 * @throws RangeError without values, or for a share that is none
 */
export function percentile(values: readonly number[], share: number): number {
  if (!(share >= 0 && share <= 1)) throw new RangeError(`a share is between 0 and 1, not ${share}`);
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  if (value === undefined) throw new RangeError("nothing was measured");
  return value;
}

export type Spread = { min: number; p50: number; p99: number; max: number };

/** How the values are spread, rounded to hundredths. */
export function spread(values: readonly number[]): Spread {
  const at = (share: number) => Math.round(percentile(values, share) * 100) / 100;
  return { min: at(0), p50: at(0.5), p99: at(0.99), max: at(1) };
}
