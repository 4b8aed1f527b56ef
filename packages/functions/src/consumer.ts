import type { Logger } from "@aws-lambda-powertools/logger";
import { injectLambdaContext } from "@aws-lambda-powertools/logger/middleware";
import { MetricUnit } from "@aws-lambda-powertools/metrics";
import { logMetrics } from "@aws-lambda-powertools/metrics/middleware";
import middy from "@middy/core";
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import { createMetrics, toError } from "./observe.ts";
import { createSqsClient } from "./sqs.ts";
import { type Disposal, respond } from "./sqs-batch.ts";
import { reached, type Stage } from "./step.ts";

export type Consumer = {
  stage: Exclude<Stage, "sweep">;
  logger: Logger;
  queueUrl: string;
  /** Says for each message whether it is done, and counts what it met. */
  consume: (
    records: SQSRecord[],
    context: Context,
  ) => Promise<{ disposals: Map<SQSRecord, Disposal>; counts: Record<string, number> }>;
};

/**
 * A queue's consumer as Lambda calls it. The batch builds its own response, and the middleware's early time-out
 * stays off: it would report everything as failed while the handler goes on sending.
 */
export function queueConsumer({ stage, logger, queueUrl, consume }: Consumer) {
  const metrics = createMetrics(stage, logger);
  const sqs = createSqsClient(2);
  return middy<SQSEvent, SQSBatchResponse>({ timeoutEarlyInMillis: 0 })
    .use(injectLambdaContext(logger))
    .use(logMetrics(metrics))
    .handler(async (event, context) => {
      const { disposals, counts } = await consume(event.Records, context);
      metrics.addMetric("messages", MetricUnit.Count, event.Records.length);
      for (const [name, count] of Object.entries(counts)) metrics.addMetric(name, MetricUnit.Count, count);
      const response = await respond(sqs, queueUrl, disposals, (error) =>
        logger.warn("a visibility could not be set", toError(error)),
      );
      reached(`${stage}:answered`);
      return response;
    });
}
