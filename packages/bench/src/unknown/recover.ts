import type { Cloud } from "../with-cloud.ts";
import { consumed, letPass, unfinished } from "./cloud.ts";
import type { Round } from "./kill.ts";

export type Recovery = {
  /** Minutes of ledger time after which the killed workers' messages are visible again. */
  messagesAfter: number;
  /** Minutes of ledger time from which the provider's events are consumed. */
  eventsAfter: number;
};

/** Minutes of ledger time after which the recovery is given up: what is unfinished then is told. */
const bound = 180;

/**
 * The ledger's own recovery: minutes pass in the ledger, each with a beat of the schedule, the consumers keep up,
 * and nothing else is done. Resolves when nothing is unfinished: with the minutes that took.
 */
export async function recover(cloud: Cloud, round: Round, recovery: Recovery): Promise<number> {
  const { stack } = cloud;
  stack.sources.deliver.resume();
  for (let minutes = 0; minutes < bound; minutes += 1) {
    if (minutes === recovery.messagesAfter) await round.comeAgain();
    if (minutes === recovery.eventsAfter) stack.sources.feedback.resume();
    await stack.schedule.trigger();
    await consumed(
      cloud,
      minutes < recovery.eventsAfter ? ["notification"] : ["notification", "feedback"],
      minutes < recovery.messagesAfter ? round.held : 0,
    );
    const over = minutes >= Math.max(recovery.messagesAfter, recovery.eventsAfter);
    if (over && (await unfinished(cloud)) === 0) return minutes;
    await letPass(cloud, 60);
  }
  return bound;
}
