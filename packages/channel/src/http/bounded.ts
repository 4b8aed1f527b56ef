/** A call that was stopped from outside: by its deadline (`TimedOut`) or by its caller (`Aborted`). */
export class StoppedError extends Error {
  readonly code: "TimedOut" | "Aborted";

  constructor(code: "TimedOut" | "Aborted") {
    super(code);
    this.code = code;
  }
}

/**
 * Runs `work` for at most `timeoutMs` milliseconds and at most until `outer` aborts. Its signal aborts at
 * that moment, and the result does not wait for work that ignores it (credential providers do).
 * @throws StoppedError, or what `work` throws.
 */
export async function bounded<T>(
  timeoutMs: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (outer?.aborted) throw new StoppedError("Aborted");
  const controller = new AbortController();
  const stopped = Promise.withResolvers<never>();
  const stop = (code: StoppedError["code"]) => {
    const error = new StoppedError(code);
    stopped.reject(error);
    controller.abort(error);
  };
  const onAbort = () => stop("Aborted");
  const timer = setTimeout(stop, timeoutMs, "TimedOut");
  outer?.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work(controller.signal), stopped.promise]);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener("abort", onAbort);
  }
}
