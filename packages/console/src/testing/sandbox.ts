import type { Sandbox } from "../context.ts";

/** Levers that note what was pulled. */
export function createTestSandbox(): Sandbox & { pulled: string[] } {
  const pulled: string[] = [];
  let stopped = false;
  const pull = (lever: string) => async () => void pulled.push(lever);
  return {
    pulled,
    mailboxUrl: "http://127.0.0.1:54323/",
    happen: async (events) => void pulled.push(`happen ${events}`),
    sweep: pull("sweep"),
    purgeQueue: pull("purge"),
    provider: {
      get stopped() {
        return stopped;
      },
      stop() {
        stopped = true;
      },
      start() {
        stopped = false;
      },
    },
  };
}
