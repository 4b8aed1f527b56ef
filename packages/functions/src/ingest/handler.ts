import { Ledger } from "@owed/ledger";
import { queueConsumer } from "../consumer.ts";
import { createLogger, toError } from "../observe.ts";
import { ledgerOptions, resource } from "../resources.ts";
import { readSettings } from "../settings.ts";
import { createSqsClient } from "../sqs.ts";
import { ingest } from "./ingest.ts";
import { lanesAtOnce } from "./publish-own.ts";

const stage = "ingest";
const settings = readSettings();
const logger = createLogger(stage);
const ledger = new Ledger(ledgerOptions(stage, 10));
const sqs = createSqsClient(lanesAtOnce);
const notificationQueueUrl = resource("NotificationQueue").url;

/** The event queue's consumer: shipment events, as EventBridge hands them to SQS; what they owe goes on at once. */
export const handler = queueConsumer({
  stage,
  logger,
  queueUrl: resource("EventQueue").url,
  consume: (records, context) =>
    ingest(
      {
        ledger,
        sqs,
        notificationQueueUrl,
        settings,
        remaining: () => context.getRemainingTimeInMillis() / 1000,
        onError: (message, error) => logger.warn(message, toError(error)),
      },
      records,
    ),
});
