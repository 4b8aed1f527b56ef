import { Logger } from "@aws-lambda-powertools/logger";
import { Metrics } from "@aws-lambda-powertools/metrics";

/** Structured logs to standard output. Ids only: no address, name or text is ever logged. */
export const createLogger = (stage: string): Logger => new Logger({ serviceName: stage });

/** Metrics in CloudWatch's embedded metric format, written to standard output. */
export const createMetrics = (stage: string): Metrics =>
  new Metrics({ namespace: "Owed", serviceName: stage });

/** An error to log, whatever was thrown. */
export const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
