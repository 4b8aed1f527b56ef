/** Milliseconds by two clocks: the wall's may jump, the monotonic one may stand still while a machine sleeps. */
export type Clocks = () => { wall: number; monotonic: number };

const bothClocks: Clocks = () => ({ wall: Date.now(), monotonic: performance.now() });

/** Tells the seconds since now, by whichever clock has moved further. */
export function startStopwatch(clocks: Clocks = bothClocks): () => number {
  const start = clocks();
  return () => {
    const now = clocks();
    return Math.max(Math.abs(now.wall - start.wall), now.monotonic - start.monotonic) / 1000;
  };
}
