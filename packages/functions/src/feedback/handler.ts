import { Ledger, LedgerUnavailable } from "@owed/ledger";
import { queueConsumer } from "../consumer.ts";
import { createLogger, toError } from "../observe.ts";
import { ledgerOptions, resource } from "../resources.ts";
import { feedback } from "./feedback.ts";

const stage = "feedback";
const logger = createLogger(stage);
const ledger = new Ledger(ledgerOptions(stage, 10));

/** The feedback queue's consumer: the provider's own events, as EventBridge hands them to SQS. */
export const handler = queueConsumer({
  stage,
  logger,
  queueUrl: resource("FeedbackQueue").url,
  consume: (records) => feedback({ ledger, onError }, records),
});

/** An event that can't be weighed comes again and again, and evidence is missing: that must not be quiet. */
function onError(message: string, error: unknown): void {
  const ours = error instanceof Error && !(error instanceof LedgerUnavailable);
  if (ours) logger.error(message, toError(error));
  else logger.warn(message, toError(error));
}
