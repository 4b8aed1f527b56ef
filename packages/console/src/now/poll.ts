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
};

/**
 * Asks one question after another for all who watch, and none while nobody does. The longer an answer takes, the longer it
 * waits for the next question, so that the ledger is busy with it for its share of the time at most.
 *
 * @param ask gets what is watched
 */
export function createPoll<Key, Answer>(
  ask: (keys: ReadonlySet<Key>) => Promise<Answer>,
  { least = 1, share = 0.1 }: Pace = {},
): Poll<Key, Answer> {
  const watchers = new Map<symbol, { key: Key; listener: (asked: Asked<Answer>) => void }>();
  let running = false;

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
      // A page that is left keeps no process alive.
      await sleep(Math.max(least, took / share - took) * 1000, undefined, { ref: false });
    }
    running = false;
  };

  return {
    watch(key, listener) {
      const id = Symbol();
      watchers.set(id, { key, listener });
      if (!running) {
        running = true;
        void run();
      }
      return () => void watchers.delete(id);
    },
  };
}
