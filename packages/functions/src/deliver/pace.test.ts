import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Pace } from "./pace.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  expect(vi.getTimerCount(), "nothing is left that would wake the worker").toBe(0);
  vi.useRealTimers();
});

const patient = { patience: 3_600 };
const after = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** Asks, and notes the answer and its time (milliseconds since `start`) under the caller's name. */
function asking(pace: Pace, rate: number, start = performance.now()) {
  const log: [name: string, granted: boolean, at: number][] = [];
  const ask = (name: string, options: { patience: number; signal?: AbortSignal } = patient) =>
    pace.take("email", rate, options).then((granted) => {
      log.push([name, granted, performance.now() - start]);
    });
  return { log, ask };
}

test("the first second's share goes out at once, the rest at the rate", async () => {
  const { log, ask } = asking(new Pace({ workers: 4 }), 8);
  const all = Promise.all(["a", "b", "c", "d", "e"].map((name) => ask(name)));
  await after(1_500);
  await all;
  expect(log).toEqual([
    ["a", true, 0],
    ["b", true, 0],
    ["c", true, 500],
    ["d", true, 1_000],
    ["e", true, 1_500],
  ]);
});

test("a share below one a second: the first at once, then one each four seconds", async () => {
  const { log, ask } = asking(new Pace({ workers: 4 }), 1);
  const all = Promise.all(["a", "b", "c"].map((name) => ask(name)));
  await after(8_000);
  await all;
  expect(log).toEqual([
    ["a", true, 0],
    ["b", true, 4_000],
    ["c", true, 8_000],
  ]);
});

test("a long rest saves up one second's share and no more", async () => {
  const { log, ask } = asking(new Pace({ workers: 1 }), 2);
  await after(60_000);
  const all = Promise.all(["a", "b", "c"].map((name) => ask(name)));
  await after(500);
  await all;
  expect(log.map(([, , at]) => at)).toEqual([60_000, 60_000, 60_500]);
});

test("whose turn comes later than its patience is told at once, and takes nothing", async () => {
  const { log, ask } = asking(new Pace({ workers: 1 }), 1);
  await ask("a");
  await ask("b", { patience: 0.999 });
  expect(log).toEqual([
    ["a", true, 0],
    ["b", false, 0],
  ]);
  const c = ask("c", { patience: 1 });
  await ask("d", { patience: 1.5 }); // behind c: in two seconds
  const e = ask("e", { patience: 2 });
  await after(2_000);
  await Promise.all([c, e]);
  expect(log.slice(2)).toEqual([
    ["d", false, 0],
    ["c", true, 1_000],
    ["e", true, 2_000],
  ]);
});

test("no patience: true when nobody has to wait; less than none: never", async () => {
  const { log, ask } = asking(new Pace({ workers: 1 }), 1);
  await ask("a", { patience: -1 });
  await ask("b", { patience: 0 });
  await ask("c", { patience: 0 });
  expect(log.map(([, granted]) => granted)).toEqual([false, true, false]);
});

test("who gives up has taken no token: the next one gets it, at the same time", async () => {
  const { log, ask } = asking(new Pace({ workers: 1 }), 1);
  await ask("a");
  const abort = new AbortController();
  const b = ask("b", { ...patient, signal: abort.signal });
  const c = ask("c");
  await after(600);
  abort.abort();
  await b;
  await after(400);
  await c;
  expect(log).toEqual([
    ["a", true, 0],
    ["b", false, 600],
    ["c", true, 1_000],
  ]);
});

test("the last one gives up: the token waits for whoever comes", async () => {
  const { log, ask } = asking(new Pace({ workers: 1 }), 1);
  await ask("a");
  const abort = new AbortController();
  const b = ask("b", { ...patient, signal: abort.signal });
  abort.abort();
  await b;
  expect(vi.getTimerCount()).toBe(0);
  await after(1_000);
  await ask("c", { patience: 0 });
  expect(log.at(-1)).toEqual(["c", true, 1_000]);
});

test("an aborted signal: false, and nothing is taken", async () => {
  const { log, ask } = asking(new Pace({ workers: 1 }), 1);
  await ask("a", { ...patient, signal: AbortSignal.abort() });
  await ask("b", { patience: 0 });
  expect(log.map(([, granted]) => granted)).toEqual([false, true]);
});

test("a signal that aborts after the grant changes nothing, and is let go of", async () => {
  const pace = new Pace({ workers: 1 });
  const abort = new AbortController();
  const remove = vi.spyOn(abort.signal, "removeEventListener");
  expect(await pace.take("email", 1, { ...patient, signal: abort.signal })).toBe(true);
  expect(remove).toHaveBeenCalledOnce();
  abort.abort();
  expect(await pace.take("email", 1, { patience: 0 })).toBe(false);
});

test("channels do not wait for each other", async () => {
  const pace = new Pace({ workers: 1 });
  expect(await pace.take("email", 1, { patience: 0 })).toBe(true);
  expect(await pace.take("email", 1, { patience: 0 })).toBe(false);
  expect(await pace.take("sms", 1, { patience: 0 })).toBe(true);
});

test("a higher rate counts at once, for those who wait too, and what came until then came at the old one", async () => {
  const pace = new Pace({ workers: 1 });
  const { log, ask } = asking(pace, 0.1);
  await ask("a");
  const b = ask("b");
  await after(5_000); // half a token
  const c = asking(pace, 1, 0).ask("c");
  await after(500);
  await b;
  expect(log.at(-1)).toEqual(["b", true, 5_500]);
  await after(1_000);
  await c;
});

test("a lower rate counts at once: who would have to wait for too long is told, the others keep their places", async () => {
  const pace = new Pace({ workers: 1 });
  const { log, ask } = asking(pace, 1);
  await ask("a");
  const b = ask("b", { patience: 2 });
  const c = ask("c", { patience: 10 });
  const d = ask("d", { patience: 5 });
  await after(500); // half a token; the other half takes five seconds now
  const slow = asking(pace, 0.1, 0);
  const e = slow.ask("e", { patience: 5 });
  await Promise.all([b, d, e]);
  await after(5_000);
  await c;
  expect(log.slice(1)).toEqual([
    ["b", false, 500],
    ["d", false, 500],
    ["c", true, 5_500],
  ]);
});

test("a lower rate takes away what is more than its own second's share", async () => {
  const pace = new Pace({ workers: 1 });
  expect(await pace.take("email", 100, { patience: 0 })).toBe(true);
  const granted: boolean[] = [];
  for (let i = 0; i < 4; i += 1) granted.push(await pace.take("email", 2, { patience: 0 }));
  expect(granted).toEqual([true, true, false, false]);
});

test("no rate is no limit, for those who wait too", async () => {
  const pace = new Pace({ workers: 1 });
  const { log, ask } = asking(pace, 1);
  const waiting = Promise.all(["a", "b", "c"].map((name) => ask(name)));
  expect(await pace.take("email", null, { patience: 0 })).toBe(true);
  await waiting;
  expect(log.map(([, granted, at]) => [granted, at])).toEqual(Array(3).fill([true, 0]));
  const free = await Promise.all(
    Array.from({ length: 1_000 }, () => pace.take("email", null, { patience: 0 })),
  );
  expect(free.every(Boolean)).toBe(true);
  expect(await pace.take("email", null, { patience: 0, signal: AbortSignal.abort() })).toBe(false);
});

test("a rate of 0 lets nothing through, and fills no bucket", async () => {
  const pace = new Pace({ workers: 1 });
  const { log, ask } = asking(pace, 1);
  const waiting = Promise.all(["a", "b"].map((name) => ask(name)));
  expect(await pace.take("email", 0, patient)).toBe(false);
  await waiting;
  expect(log.map(([, granted]) => granted)).toEqual([true, false]);
  expect(await pace.take("email", 1, { patience: 0 })).toBe(false);
});

test.for([-1, Number.NaN, Number.POSITIVE_INFINITY])("%d is no rate", async (rate) => {
  await expect(new Pace({ workers: 1 }).take("email", rate, patient)).rejects.toThrow(
    `The rate of channel email must be messages a second or null, not ${rate}`,
  );
});

test.for([0, -1, 1.5, Number.NaN])("%d is no number of workers", (workers) => {
  expect(() => new Pace({ workers })).toThrow(RangeError);
});

/** A moment in a worker's life: time passes, the rate may be another one, some ask, and perhaps give up. */
const moment = fc.record({
  pause: fc.integer({ min: 0, max: 3_000 }),
  rate: fc.option(fc.double({ min: 0.05, max: 50, noNaN: true }), { freq: 2, nil: null }),
  callers: fc.array(
    fc.record({
      patience: fc.double({ min: 0, max: 20, noNaN: true }),
      abortAfter: fc.option(fc.integer({ min: 0, max: 10_000 }), { nil: null }),
    }),
    { minLength: 1, maxLength: 10 },
  ),
});

test("whoever asks, waits and gives up: in no window more than burst and rate, in order, within the patience", async () => {
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 8 }), fc.array(moment), async (workers, moments) => {
      const pace = new Pace({ workers });
      let rate = 1;
      let burst = 1;
      /** Messages that the rates until `since` would have let through. */
      let allowed = 0;
      let since = performance.now();
      const allowedNow = () => allowed + ((performance.now() - since) / 1000) * (rate / workers);
      const grants: { caller: number; allowed: number; late: number }[] = [];
      const answers: Promise<void>[] = [];
      for (const { pause, rate: changed, callers } of moments) {
        await after(pause);
        allowed = allowedNow();
        since = performance.now();
        rate = changed ?? rate;
        burst = Math.max(burst, rate / workers);
        for (const { patience, abortAfter } of callers) {
          const abort = new AbortController();
          if (abortAfter !== null) setTimeout(() => abort.abort(), abortAfter);
          const until = performance.now() + patience * 1000;
          const caller = answers.length;
          const answer = pace.take("email", rate, { patience, signal: abort.signal });
          answers.push(
            answer.then((granted) => {
              if (granted) grants.push({ caller, allowed: allowedNow(), late: performance.now() - until });
            }),
          );
        }
        await after(0);
      }
      await after(30_000);
      await Promise.all(answers);

      for (const [first, from] of grants.entries()) {
        for (const [last, to] of grants.entries()) {
          const most = burst + to.allowed - from.allowed;
          if (last >= first) expect(last - first + 1, "grants in a window").toBeLessThanOrEqual(most + 1e-6);
        }
      }
      for (const [place, { caller, late }] of grants.entries()) {
        expect(caller, "first come, first served").toBeGreaterThan(grants[place - 1]?.caller ?? -1);
        expect(late, "timers count whole milliseconds").toBeLessThan(1);
      }
      refused += answers.length - grants.length;
    }),
    { numRuns: 200 },
  );
  expect(refused, "some were refused").toBeGreaterThan(0);
});
