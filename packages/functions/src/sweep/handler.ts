import { injectLambdaContext } from "@aws-lambda-powertools/logger/middleware";
import { MetricUnit } from "@aws-lambda-powertools/metrics";
import { logMetrics } from "@aws-lambda-powertools/metrics/middleware";
import middy from "@middy/core";
import { Ledger } from "@owed/ledger";
import type { Context } from "aws-lambda";
import { createLogger, createMetrics, toError } from "../observe.ts";
import { ledgerOptions, linked, resource } from "../resources.ts";
import { readSettings } from "../settings.ts";
import { createSqsClient } from "../sqs.ts";
import { limitSources } from "./limits.ts";
import { type Summary, sweep } from "./sweep.ts";

const settings = readSettings();
const logger = createLogger("sweep");
const metrics = createMetrics("sweep", logger);
const ledger = new Ledger(ledgerOptions("sweep", 20));
const sqs = createSqsClient(settings.sweep.lanes);
const notificationQueueUrl = resource("NotificationQueue").url;
const feedbackQueueUrl = resource("FeedbackQueue").url;
const shadowQueueUrl = linked("ShadowQueue")?.url ?? null;

const counted = [
  "owed",
  "leased",
  "published",
  "failed",
  "unsure",
  "cancelled",
  "rescued",
  "unknown",
  "resent",
  "lost",
  "shadowed",
  "archived",
] as const;

/** The schedule's target: one beat, whatever the event says. */
export const handler = middy()
  .use(injectLambdaContext(logger))
  .use(logMetrics(metrics))
  .handler(async (_event: unknown, context: Context): Promise<Summary> => {
    const remaining = () => context.getRemainingTimeInMillis() / 1000;
    const summary = await sweep({
      ledger,
      sqs,
      notificationQueueUrl,
      feedbackQueueUrl,
      shadowQueueUrl,
      settings,
      limits: limitSources,
      remaining,
      onError: (message, error) => logger.warn(message, toError(error)),
    });
    logger.info("sweep", { summary });
    if (!summary.swept) {
      metrics.addMetric(summary.why, MetricUnit.Count, 1);
      return summary;
    }
    metrics.addMetric("sweeps", MetricUnit.Count, 1);
    for (const name of counted) metrics.addMetric(name, MetricUnit.Count, summary[name]);
    if (shadowQueueUrl) metrics.addMetric("shadowed", MetricUnit.Count, summary.shadowed);
    if (summary.timeToDrain !== null)
      metrics.addMetric("timeToDrain", MetricUnit.Seconds, summary.timeToDrain);
    metrics.addMetric("oldestOwedAge", MetricUnit.Seconds, summary.oldestOwedAge);
    metrics.addMetric("duration", MetricUnit.Seconds, summary.duration);
    return summary;
  });
