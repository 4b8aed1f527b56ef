import { Ledger } from "@owed/ledger";
import { queueConsumer } from "../consumer.ts";
import { createLogger, toError } from "../observe.ts";
import { ledgerOptions, resource } from "../resources.ts";
import { readSettings } from "../settings.ts";
import { createChannels } from "./channels.ts";
import { deliver } from "./deliver.ts";
import { Pace } from "./pace.ts";

const stage = "deliver";
const settings = readSettings();
const logger = createLogger(stage);
const ledger = new Ledger(ledgerOptions(stage, 5));
const channels = createChannels(Math.round(settings.deliver.call * 1000));
const pace = new Pace({ workers: settings.deliver.concurrency });

/** The notification queue's consumer. */
export const handler = queueConsumer({
  stage,
  logger,
  queueUrl: resource("NotificationQueue").url,
  consume: (records, context) =>
    deliver(
      {
        ledger,
        channels,
        settings,
        pace,
        remaining: () => context.getRemainingTimeInMillis() / 1000,
        onError: (message, error, notification) =>
          logger.error(message, { ...(error === null ? {} : { error: toError(error) }), notification }),
      },
      records,
    ),
});
