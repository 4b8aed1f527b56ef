import { Ledger } from "@owed/ledger";
import { queueConsumer } from "../consumer.ts";
import { createLogger, toError } from "../observe.ts";
import { ledgerOptions, resource } from "../resources.ts";
import { feedback } from "./feedback.ts";

const stage = "feedback";
const logger = createLogger(stage);
const ledger = new Ledger(ledgerOptions("owed-feedback", 10));

/** The feedback queue's consumer: the provider's own events, as EventBridge hands them to SQS. */
export const handler = queueConsumer({
  stage,
  logger,
  queueUrl: resource("FeedbackQueue").url,
  consume: (records) =>
    feedback({ ledger, onError: (message, error) => logger.warn(message, toError(error)) }, records),
});
