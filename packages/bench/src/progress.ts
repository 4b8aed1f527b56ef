import { Presets, SingleBar } from "cli-progress";

export type Progress = { update(done: number): void; stop(): void };

/** Does some work that tells how far it is. */
export async function withProgress<T>(
  name: string,
  total: number,
  work: (update: (done: number) => void) => Promise<T>,
): Promise<T> {
  const progress = startProgress(name, total);
  try {
    return await work(progress.update);
  } finally {
    progress.stop();
  }
}

/** A bar on a terminal; elsewhere a line at the beginning, so that whoever waits knows for what. */
export function startProgress(name: string, total: number): Progress {
  if (!process.stderr.isTTY) {
    console.error(`${name}: ${total} …`);
    return { update: () => {}, stop: () => {} };
  }
  const format = `${name.padEnd(44)} {bar} {value}/{total} {duration_formatted}`;
  const bar = new SingleBar({ format, stream: process.stderr }, Presets.shades_classic);
  bar.start(total, 0);
  return { update: (done) => bar.update(Math.min(done, total)), stop: () => bar.stop() };
}
