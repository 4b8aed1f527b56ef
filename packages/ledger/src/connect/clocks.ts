/** This moment, by both clocks: a freeze of the process may stop either. */
export const clocks = () => ({ monotonic: performance.now(), wall: Date.now() });

/** The longer of what the two clocks say. */
export const secondsSince = ({ monotonic, wall }: ReturnType<typeof clocks>): number =>
  Math.max(performance.now() - monotonic, Date.now() - wall) / 1000;
