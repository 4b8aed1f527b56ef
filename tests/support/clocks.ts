/** Milliseconds that this process's clocks are ahead of the machine's. */
const ahead = { wall: 0, monotonic: 0 };
const RealDate = Date;
const realNow = performance.now.bind(performance);

/**
 * Lets this process's clocks be wrong: the wall's by so many seconds, or both, as after a freeze. For processes of
 * their own alone: timers go on by the machine's clock.
 */
export function advanceClocks(seconds: { wall?: number; both?: number }): void {
  ahead.wall += ((seconds.wall ?? 0) + (seconds.both ?? 0)) * 1000;
  ahead.monotonic += (seconds.both ?? 0) * 1000;
  globalThis.Date = SkewedDate as DateConstructor;
  performance.now = () => realNow() + ahead.monotonic;
}

const SkewedDate = new Proxy(RealDate, {
  construct: (target, given: []) =>
    given.length === 0 ? new target(target.now() + ahead.wall) : new target(...given),
  apply: (target) => new target(target.now() + ahead.wall).toString(),
  get: (target, name) =>
    name === "now" ? () => target.now() + ahead.wall : Reflect.get(target, name, target),
});
