import { setTimeout as sleep } from "node:timers/promises";

/**
 * PostgreSQL's fast shutdown, and while that is not enough its immediate one (the next start recovers from the
 * log), then SIGKILL.
 *
 * @param send sends the postmaster a signal
 * @param gone resolves when it has ended
 */
export async function shutDown(
  pid: number,
  send: (signal: NodeJS.Signals) => unknown,
  gone: Promise<unknown>,
): Promise<void> {
  const patience: [NodeJS.Signals, number][] = [
    ["SIGINT", 20_000],
    ["SIGQUIT", 5_000],
    ["SIGKILL", 5_000],
  ];
  for (const [signal, milliseconds] of patience) {
    try {
      send(signal);
    } catch (error) {
      // It may end between two signals.
      if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
    }
    if (await endsWithin(gone, milliseconds)) return;
  }
  throw new Error(`PostgreSQL (process ${pid}) did not stop, not even by SIGKILL.`);
}

async function endsWithin(gone: Promise<unknown>, milliseconds: number): Promise<boolean> {
  const enough = new AbortController();
  try {
    return await Promise.race([gone.then(() => true), sleep(milliseconds, false, { signal: enough.signal })]);
  } finally {
    enough.abort();
  }
}
