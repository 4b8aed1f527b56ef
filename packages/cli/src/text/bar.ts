import { Presets, SingleBar } from "cli-progress";

/** Does some work that tells how far it is: as a bar on a terminal, on standard error, and nowhere else. */
export async function withBar<T>(
  name: string,
  total: number,
  work: (update: (done: number) => void) => Promise<T>,
): Promise<T> {
  if (!process.stderr.isTTY) return work(() => {});
  const format = `${name} {bar} {percentage}% {duration_formatted}, {eta_formatted} to go`;
  const bar = new SingleBar({ format, stream: process.stderr }, Presets.shades_classic);
  bar.start(total, 0);
  try {
    return await work((done) => bar.update(Math.min(done, total)));
  } finally {
    bar.stop();
  }
}
