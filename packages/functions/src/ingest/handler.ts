import { Ledger } from "@owed/ledger";
import { queueConsumer } from "../consumer.ts";
import { createLogger, toError } from "../observe.ts";
import { ledgerOptions, resource } from "../resources.ts";
import { ingest } from "./ingest.ts";

const stage = "ingest";
const logger = createLogger(stage);
const ledger = new Ledger(ledgerOptions(stage, 10));

/** The event queue's consumer: shipment events, as EventBridge hands them to SQS. */
export const handler = queueConsumer({
  stage,
  logger,
  queueUrl: resource("EventQueue").url,
  consume: (records, context) =>
    ingest(
      {
        ledger,
        remaining: () => context.getRemainingTimeInMillis() / 1000,
        onError: (message, error) => logger.warn(message, toError(error)),
      },
      records,
    ),
});
