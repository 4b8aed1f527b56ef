import { setTimeout as sleep } from "node:timers/promises";
import type { Context, SQSEvent } from "aws-lambda";
import * as v from "valibot";
import { createContext } from "./context.ts";

export type SqsFunction = (event: SQSEvent, context: Context) => Promise<unknown>;

export interface Invocation {
  handler: SqsFunction;
  functionName: string;
  region: string;
  timeoutSeconds: number;
  /** Whether the answer is read as a partial response (`ReportBatchItemFailures`). */
  partialResponses: boolean;
}

const PartialResponse = v.nullish(
  v.object({
    batchItemFailures: v.nullish(v.array(v.object({ itemIdentifier: v.pipe(v.string(), v.minLength(1)) }))),
  }),
);

/**
 * Invokes the function as Lambda does, the event and the answer passing through JSON. A handler that is still at
 * work after its time cannot be ended from within the process; what it answers then is not heard.
 *
 * @returns the ids of the messages that failed
 * @throws when all of them did: the handler threw, ran out of time, or answered with what is no partial response or
 * names a message that was not in the batch
 * (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html)
 */
export async function invoke(event: SQSEvent, invocation: Invocation): Promise<Set<string>> {
  const { handler, timeoutSeconds, partialResponses } = invocation;
  const over = new AbortController();
  const outOfTime = async () => {
    await sleep(timeoutSeconds * 1000, undefined, { signal: over.signal });
    throw new Error(`Task timed out after ${timeoutSeconds.toFixed(2)} seconds`);
  };
  const call = async () => handler(throughJson<SQSEvent>(event), createContext(invocation));
  let answer: unknown;
  try {
    answer = await Promise.race([call(), outOfTime()]);
  } finally {
    over.abort();
  }
  return partialResponses ? readFailures(throughJson(answer), event) : new Set();
}

function readFailures(answer: unknown, event: SQSEvent): Set<string> {
  const response = v.safeParse(PartialResponse, answer);
  if (!response.success) {
    throw new Error(`The answer is no partial response: ${JSON.stringify(answer).slice(0, 500)}`);
  }
  const failed = new Set((response.output?.batchItemFailures ?? []).map((failure) => failure.itemIdentifier));
  const known = new Set(event.Records.map((record) => record.messageId));
  const unknown = [...failed].filter((id) => !known.has(id));
  if (unknown.length > 0) {
    throw new Error(`The answer names messages that were not in the batch: ${unknown.join(", ")}`);
  }
  return failed;
}

/** JSON has no `undefined`: as an answer it is null. */
function throughJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value) ?? "null");
}
