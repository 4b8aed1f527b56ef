import { Logger } from "@aws-lambda-powertools/logger";
import { Metrics } from "@aws-lambda-powertools/metrics";

/** Structured logs to standard output. Ids only: no address, name or text is ever logged. */
export const createLogger = (stage: string): Logger => new Logger({ serviceName: stage });

/**
 * Metrics in CloudWatch's embedded metric format, written to standard output. A deployment gives a namespace of its
 * own: of two in one account, each has its own alarms. What the library itself has to say goes to the stage's log.
 */
export const createMetrics = (stage: string, logger: Logger): Metrics =>
  new Metrics({
    namespace: process.env.POWERTOOLS_METRICS_NAMESPACE ?? "Owed",
    serviceName: stage,
    logger,
  });

/**
 * An error to log, whatever was thrown: name, message, code, stack and cause. The logger would write whatever
 * else an error carries, and PostgreSQL's `detail` quotes whole rows, addresses included.
 */
export function toError(thrown: unknown): Error {
  if (!(thrown instanceof Error)) return new Error(String(thrown));
  const { name, message, stack, cause } = thrown;
  const code = "code" in thrown ? { code: thrown.code } : {};
  return Object.assign(new Error(message), {
    name,
    stack,
    ...code,
    ...(cause === undefined ? {} : { cause: toError(cause) }),
  });
}
