import { Cron } from "croner";

export interface ScheduleOptions {
  /** Seconds between ticks, for drills on scaled time; may be a fraction. Not together with `cron`. */
  everySeconds?: number;
  /** A cron expression in UTC, as EventBridge reads it. Without either: each minute, on the minute. */
  cron?: string;
  run: () => Promise<void>;
  /** Gets what a run rejects with. A run asked for with `trigger` rejects to whoever asked instead. */
  onError: (error: unknown) => void;
  log: (line: string) => void;
}

export interface Schedule {
  readonly paused: boolean;
  /** Lets ticks pass unused. A run that is going goes on. */
  pause(): void;
  /** Waits for the next tick; the ticks missed meanwhile are gone. */
  resume(): void;
  /** One run now, paused or not. It starts when a run that is going has ended, and never beside it. */
  trigger(): Promise<void>;
  /** No more ticks; resolves when the run that is going has ended. */
  stop(): Promise<void>;
}

/**
 * A heartbeat that behaves like EventBridge's: a tick that nobody took is never made up for. Unlike EventBridge
 * it skips a tick while a run is going, as one sweep at a time is all the ledger's heartbeat lets through.
 *
 * @throws RangeError for seconds that no timer can count, TypeError for a cron expression that is none
 */
export function startSchedule(options: ScheduleOptions): Schedule {
  const { run, onError, log } = options;
  let paused = false;
  let stopped = false;
  let skipped = 0;
  let running: Promise<void> | undefined;

  function start(): Promise<void> {
    const ended = Promise.withResolvers<void>();
    running = ended.promise;
    skipped = 0;
    return (async () => run())().finally(() => {
      running = undefined;
      ended.resolve();
      if (skipped > 0) log(`The run took long: ${skipped} tick(s) skipped.`);
    });
  }

  const stopTicks = startTicks(options, () => {
    if (paused || stopped) return;
    if (running) skipped += 1;
    else start().catch(onError);
  });

  return {
    get paused() {
      return paused;
    },
    pause() {
      paused = true;
    },
    resume() {
      paused = false;
    },
    async trigger() {
      while (running) await running;
      if (stopped) throw new Error("The schedule is stopped: no run was started.");
      await start();
    },
    async stop() {
      stopped = true;
      stopTicks();
      while (running) await running;
    },
  };
}

/** Cron counts whole seconds, so scaled time has a plain interval. Neither makes up for ticks it missed. */
function startTicks({ everySeconds, cron }: ScheduleOptions, tick: () => void): () => void {
  if (everySeconds === undefined) {
    const job = new Cron(cron ?? "* * * * *", { timezone: "UTC" }, tick);
    return () => job.stop();
  }
  if (cron !== undefined) throw new RangeError("A schedule has either everySeconds or cron, not both.");
  // A longer interval than a day would soon overflow the timer, which then fires at once.
  if (!(everySeconds >= 0.001 && everySeconds <= 86_400)) {
    throw new RangeError(`everySeconds is ${everySeconds}: it has to be between 0.001 and 86400.`);
  }
  const timer = setInterval(tick, everySeconds * 1000);
  return () => clearInterval(timer);
}
