import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Schedule, type ScheduleOptions, startSchedule } from "./schedule.ts";

/** A run that goes on until the test lets it end. */
function heldRun() {
  const ends: PromiseWithResolvers<void>[] = [];
  const run = vi.fn(() => {
    const end = Promise.withResolvers<void>();
    ends.push(end);
    return end.promise;
  });
  return { run, end: () => ends.shift()?.resolve(), fail: (error: Error) => ends.shift()?.reject(error) };
}

let schedule: Schedule | undefined;
function start(options: Partial<ScheduleOptions> & Pick<ScheduleOptions, "run">): Schedule {
  schedule = startSchedule({
    onError: (error) => {
      throw error;
    },
    log: () => {},
    ...options,
  });
  return schedule;
}

beforeEach(() => {
  vi.useFakeTimers({ now: new Date("2026-03-01T10:00:20.500Z") });
});
afterEach(async () => {
  await schedule?.stop();
  vi.useRealTimers();
});

describe("ticks", () => {
  test("come each minute, on the minute", async () => {
    const times: string[] = [];
    start({ run: async () => void times.push(new Date().toISOString()) });
    await vi.advanceTimersByTimeAsync(160_000);
    expect(times).toEqual([
      "2026-03-01T10:01:00.000Z",
      "2026-03-01T10:02:00.000Z",
      "2026-03-01T10:03:00.000Z",
    ]);
  });

  test("come by a cron expression in UTC", async () => {
    const times: string[] = [];
    start({ cron: "30 10 * * *", run: async () => void times.push(new Date().toISOString()) });
    await vi.advanceTimersByTimeAsync(24 * 3_600_000);
    expect(times).toEqual(["2026-03-01T10:30:00.000Z"]);
  });

  test("come every fraction of a second on scaled time", async () => {
    const run = vi.fn(async () => {});
    start({ everySeconds: 0.25, run });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(run).toHaveBeenCalledTimes(4);
  });

  test("are skipped while a run is going, and not made up for", async () => {
    const { run, end } = heldRun();
    const lines: string[] = [];
    start({ everySeconds: 1, run, log: (line) => lines.push(line) });
    await vi.advanceTimersByTimeAsync(4_500);
    expect(run).toHaveBeenCalledTimes(1);
    end();
    await vi.advanceTimersByTimeAsync(0);
    expect(run).toHaveBeenCalledTimes(1);
    expect(lines).toEqual(["The run took long: 3 tick(s) skipped."]);
    await vi.advanceTimersByTimeAsync(500);
    expect(run).toHaveBeenCalledTimes(2);
    end();
  });

  test.each([{}, { everySeconds: 60 }])(
    "pass unused while paused, and are not made up for: %j",
    async (when) => {
      const run = vi.fn(async () => {});
      const paused = start({ ...when, run });
      paused.pause();
      expect(paused.paused).toBe(true);
      await vi.advanceTimersByTimeAsync(3_600_000);
      expect(run).not.toHaveBeenCalled();
      paused.resume();
      expect(paused.paused).toBe(false);
      await vi.advanceTimersByTimeAsync(39_000);
      expect(run).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(60_000);
      expect(run.mock.calls.length).toBeGreaterThanOrEqual(1);
      expect(run.mock.calls.length).toBeLessThanOrEqual(2);
    },
  );

  test("go on after a run that failed", async () => {
    const errors: unknown[] = [];
    const run = vi.fn().mockRejectedValueOnce(new Error("no database")).mockResolvedValue(undefined);
    start({ everySeconds: 1, run, onError: (error) => errors.push(error) });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(errors).toEqual([new Error("no database")]);
    expect(run).toHaveBeenCalledTimes(2);
  });
});

describe("trigger", () => {
  test("runs at once although paused, and rejects to whoever asked", async () => {
    const onError = vi.fn();
    const run = vi.fn().mockResolvedValueOnce(undefined).mockRejectedValueOnce(new Error("no database"));
    const triggered = start({ run, onError });
    triggered.pause();
    await triggered.trigger();
    await expect(triggered.trigger()).rejects.toThrow("no database");
    expect(run).toHaveBeenCalledTimes(2);
    expect(onError).not.toHaveBeenCalled();
  });

  test("waits for the run that is going, and two never run beside each other", async () => {
    const { run, end } = heldRun();
    const triggered = start({ everySeconds: 1, run });
    await vi.advanceTimersByTimeAsync(1_000);
    const both = Promise.all([triggered.trigger(), triggered.trigger()]);
    for (const runs of [1, 2, 3]) {
      await vi.advanceTimersByTimeAsync(0);
      expect(run).toHaveBeenCalledTimes(runs);
      end();
    }
    await both;
    expect(run).toHaveBeenCalledTimes(3);
  });
});

describe("stop", () => {
  test("waits for the run that is going; nothing runs after it", async () => {
    const { run, end } = heldRun();
    const stopped = start({ everySeconds: 1, run });
    await vi.advanceTimersByTimeAsync(1_000);
    const done = vi.fn();
    const stopping = stopped.stop().then(done);
    const late = stopped.trigger();
    late.catch(() => {});
    await vi.advanceTimersByTimeAsync(5_000);
    expect(done).not.toHaveBeenCalled();
    end();
    await stopping;
    await expect(late).rejects.toThrow("stopped");
    await vi.advanceTimersByTimeAsync(5_000);
    expect(run).toHaveBeenCalledTimes(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});

test.each([0, -1, Number.NaN, 1e9])("an interval of %d seconds is refused", (everySeconds) => {
  expect(() => start({ everySeconds, run: async () => {} })).toThrow(RangeError);
});

test("a cron expression that is none is refused", () => {
  expect(() => start({ cron: "each minute", run: async () => {} })).toThrow(TypeError);
});
