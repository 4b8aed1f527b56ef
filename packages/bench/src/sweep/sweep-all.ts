import { parseSettings } from "@owed/functions/parse-settings";
import { sweep } from "@owed/functions/run-sweep";
import type { Ledger } from "@owed/ledger";
import type { StubQueue } from "./start-stub-queue.ts";

/** The defaults; but nothing goes to the archive while the sweep is measured. */
export const settings = parseSettings({ retention: { days: null } });

/** One whole beat of the shipped sweep: no provider's rate is known, so it publishes everything due. Returns the rows. */
export async function sweepAll(ledger: Ledger, { sqs, url }: StubQueue): Promise<number> {
  const summary = await sweep({
    ...{ ledger, sqs, settings, limits: new Map(), remaining: () => 60 },
    ...{ notificationQueueUrl: url, feedbackQueueUrl: url },
  });
  if (!summary.swept) throw new Error(`the sweep was skipped: ${summary.why}`);
  const { published, leased, fenced, failed, unsure } = summary;
  if (published !== leased || fenced + failed + unsure > 0)
    throw new Error(`the sweep did not publish all: ${JSON.stringify(summary)}`);
  return published;
}
