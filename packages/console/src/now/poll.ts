import { setTimeout as sleep } from "node:timers/promises";

/** What a question brought: an answer, or why there is none. */
export type Asked<Answer> = { answer: Answer } | { error: unknown };

export type Poll<Key, Answer> = {
  /** Tells `listener` each answer from now on, those for `key` among them. Returns what ends it. */
  watch(key: Key, listener: (asked: Asked<Answer>) => void): () => void;
};

export type Pace = {
  /** Seconds between two questions at least. */
  least?: number;
  /** The part of the time that questions may take. */
  share?: number;
  /** Seconds between two questions at most, also when an answer took long or did not come. */
  most?: number;
};

/**
 * Asks one question after another for all who watch, and none while nobody does. The longer an answer takes, the longer it
 * waits for the next question, so that the ledger is busy with it for its share of the time. Who comes to watch meanwhile
 * does not wait for that.
 *
 * @param ask gets what is watched
 */
export function createPoll<Key, Answer>(
  ask: (keys: ReadonlySet<Key>) => Promise<Answer>,
  { least = 1, share = 0.1, most = 20 }: Pace = {},
): Poll<Key, Answer> {
  const watchers = new Map<symbol, { key: Key; listener: (asked: Asked<Answer>) => void }>();
  let running = false;
  let waiting = new AbortController();

  const askOnce = async (): Promise<Asked<Answer>> => {
    try {
      return { answer: await ask(new Set([...watchers.values()].map(({ key }) => key))) };
    } catch (error) {
      return { error };
    }
  };

  const run = async () => {
    while (watchers.size > 0) {
      const began = performance.now();
      const asked = await askOnce();
      for (const { listener } of watchers.values()) listener(asked);
      const took = (performance.now() - began) / 1000;
      const rest = "error" in asked ? least : Math.min(most, Math.max(least, took / share - took));
      waiting = new AbortController();
      // A page that is left keeps no process alive.
      await sleep(rest * 1000, undefined, { ref: false, signal: waiting.signal }).catch(() => {});
    }
    running = false;
  };

  return {
    watch(key, listener) {
      const id = Symbol();
      watchers.set(id, { key, listener });
      waiting.abort();
      if (!running) {
        running = true;
        void run();
      }
      return () => void watchers.delete(id);
    },
  };
}
