import type { Invocation } from "./invocation.ts";
import type { Answer } from "./provider.ts";
import type { SQSRecord } from "./queue.ts";
import type { Simulation } from "./simulation.ts";

export const throttles: ReadonlySet<Answer> = new Set(["slow down", "retry after", "quota", "account"]);
/** The provider's own word about one message: it closes the channel for nobody. */
const itsOwn: ReadonlySet<Answer> = new Set(["accepts", "refuses", "cannot"]);

/** Certainly not sent: the later rows of its group wait for it. */
const notSent: ReadonlySet<Answer> = new Set([...throttles, "refuses", "cannot", "is down"]);

type Batch = {
  records: readonly SQSRecord[];
  /** By verdict and outcome, as deliver counts them. */
  counts: Readonly<Record<string, number>>;
  /** The messages that come again. */
  failed: ReadonlySet<string>;
};

/**
 * What a batch in which nothing went wrong but what the provider said must not have done: give a throttled message
 * back to the queue, where it would spend its receives; call a row whose group has one before
 * it that was not sent; or hold back the rows of a group in which no call failed.
 */
export function wrongInBatch(
  { provider }: Simulation,
  by: Invocation,
  { records, counts, failed }: Batch,
): string[] {
  if (by.disturbed) return [];
  const calls = provider.calls.filter((call) => call.by === by);
  const recordOf = (id: string) => records.find(({ body }) => body.includes(id));
  const throttled = calls.flatMap(({ id, answer }) =>
    throttles.has(answer) && failed.has(recordOf(id)?.messageId ?? "")
      ? [`${id} was throttled (${answer}), and its message spends its receives`]
      : [],
  );
  const groupOf = (id: string) => recordOf(id)?.attributes.MessageGroupId;
  const overtaking = calls.flatMap(({ id }, place) => {
    const before = calls
      .slice(0, place)
      .find((call) => notSent.has(call.answer) && groupOf(call.id) === groupOf(id));
    return before ? [`${id} was called after ${before.id} of its group was not sent`] : [];
  });
  const wrong = [...throttled, ...overtaking];
  const { claimed = 0, notCalled = 0 } = counts;
  if (claimed !== calls.length + notCalled)
    return [...wrong, `of ${claimed} claimed rows ${calls.length} were called and ${notCalled} given back`];
  if (!calls.every(({ answer }) => itsOwn.has(answer))) return wrong;
  const failing = new Set(calls.filter(({ answer }) => answer !== "accepts").map(({ id }) => groupOf(id)));
  const heldBack =
    records.filter((record) => failing.has(record.attributes.MessageGroupId)).length - failing.size;
  return notCalled > heldBack
    ? [...wrong, `${notCalled} rows were not called, and only ${heldBack} have a neighbour that failed`]
    : wrong;
}
