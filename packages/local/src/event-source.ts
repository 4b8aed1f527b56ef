import { setTimeout as sleep } from "node:timers/promises";
import {
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { type Invocation, invoke, type SqsFunction } from "./event-source/invoke.ts";
import { toRecord } from "./event-source/record.ts";

export interface EventSourceOptions {
  sqs: SQSClient;
  queueUrl: string;
  queueArn: string;
  region: string;
  functionName: string;
  handler: SqsFunction;
  /** Default 10. More than ten needs a window to be collected in. */
  batchSize?: number;
  /** How long to collect a batch, counted from its first message; whole seconds, default 0. */
  batchWindowSeconds?: number;
  /** Invocations at once; default 2, which is the least that AWS takes. */
  maximumConcurrency?: number;
  /** The function's own timeout; default 30. */
  timeoutSeconds?: number;
  /** Whether the handler's answer says which messages failed (`ReportBatchItemFailures`); default true. */
  partialResponses?: boolean;
  log: (line: string) => void;
}

/** Counted since the start. */
export interface EventSourceStats {
  received: number;
  invocations: number;
  /** Invocations that failed as a whole. */
  errors: number;
  /** Messages left to their visibility timeout. */
  failed: number;
  deleted: number;
  /** Invocations going on now. */
  running: number;
}

export interface EventSource {
  readonly stats: Readonly<EventSourceStats>;
  /** No new receives. Resolves when none is pending, in a second at most; what came until then is still handled. */
  pause(): Promise<void>;
  resume(): void;
  /** No new receives; resolves when the running invocations have ended and their messages are deleted. */
  stop(): Promise<void>;
}

/**
 * How long a receive waits for a message, in whole seconds. A pending receive is never aborted: the messages of its
 * answer would stay invisible, and a FIFO group locked, for a whole visibility timeout. So `stop` has to sit it out,
 * and it is short.
 */
const WAIT_SECONDS = 1;
/** An answer this late will not come. */
const RECEIVE_DEADLINE_MS = 15_000;
const LONGEST_BACKOFF_MS = 5_000;
const SQS_BATCH = 10;

/**
 * An SQS event source mapping with Lambda's meanings: messages are deleted when their invocation succeeded, and
 * failed ones are left to their visibility timeout, which the handler may have changed. One poller receives only
 * while an invocation may start, so nothing waits in memory with its visibility running out.
 * (https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html)
 */
export function startEventSource(options: EventSourceOptions): EventSource {
  const { sqs, queueUrl, queueArn, region, functionName, handler } = options;
  const { batchSize = 10, batchWindowSeconds = 0, maximumConcurrency = 2 } = options;
  const { timeoutSeconds = 30, partialResponses = true } = options;
  const invocation: Invocation = { handler, functionName, region, timeoutSeconds, partialResponses };
  const log = (line: string) => options.log(`${functionName}: ${line}`);

  const stats: EventSourceStats = {
    received: 0,
    invocations: 0,
    errors: 0,
    failed: 0,
    deleted: 0,
    running: 0,
  };
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();
  let paused: PromiseWithResolvers<void> | undefined;
  let pending: Promise<unknown> = Promise.resolve();
  let outages = 0;

  async function poll(): Promise<void> {
    while (!stopping.signal.aborted) {
      if (paused) {
        await paused.promise;
      } else if (running.size >= maximumConcurrency) {
        await Promise.race(running);
      } else {
        const batch = collect();
        pending = batch.catch(() => {});
        try {
          start(await batch);
          recovered();
        } catch (error) {
          await backOff(error);
        }
      }
    }
    await Promise.all(running);
  }

  async function collect(): Promise<Message[]> {
    const batch = await receive(batchSize);
    const end = performance.now() + batchWindowSeconds * 1000;
    const open = () => performance.now() < end && !paused && !stopping.signal.aborted;
    while (batch.length > 0 && batch.length < batchSize && open()) {
      const more = await receive(batchSize - batch.length).catch(() => undefined);
      if (!more) break; // SQS is down; that is reported by the next poll, and these messages are not held back
      batch.push(...more);
    }
    return batch;
  }

  async function receive(most: number): Promise<Message[]> {
    const command = new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: Math.min(most, SQS_BATCH),
      WaitTimeSeconds: WAIT_SECONDS,
      MessageSystemAttributeNames: ["All"],
      MessageAttributeNames: ["All"],
    });
    const { Messages = [] } = await sqs.send(command, {
      abortSignal: AbortSignal.timeout(RECEIVE_DEADLINE_MS),
    });
    stats.received += Messages.length;
    return Messages;
  }

  function start(batch: readonly Message[]): void {
    if (batch.length === 0) return;
    const handled = handle(batch).finally(() => {
      running.delete(handled);
      stats.running = running.size;
    });
    running.add(handled);
    stats.running = running.size;
  }

  /** Never rejects. */
  async function handle(batch: readonly Message[]): Promise<void> {
    stats.invocations += 1;
    const event = { Records: batch.map((message) => toRecord(message, queueArn, region)) };
    try {
      const failed = await invoke(event, invocation);
      stats.failed += failed.size;
      await remove(batch.filter(({ MessageId = "" }) => !failed.has(MessageId)));
    } catch (error) {
      stats.errors += 1;
      stats.failed += batch.length;
      log(`the batch of ${batch.length} failed: ${describe(error)}`);
    }
  }

  /** What cannot be deleted comes again, as from SQS itself: at least once is all it promises. */
  async function remove(messages: readonly Message[]): Promise<void> {
    for (let from = 0; from < messages.length; from += SQS_BATCH) {
      const entries = messages
        .slice(from, from + SQS_BATCH)
        .map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
      try {
        const { Successful = [], Failed = [] } = await sqs.send(
          new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries: entries }),
        );
        stats.deleted += Successful.length;
        for (const { Code, Message: reason } of Failed)
          log(`a message was not deleted: ${Code} ${reason ?? ""}`);
      } catch (error) {
        log(`${entries.length} messages were not deleted: ${describe(error)}`);
      }
    }
  }

  async function backOff(error: unknown): Promise<void> {
    if (outages === 0) log(`cannot receive from ${queueUrl}, trying on: ${describe(error)}`);
    const milliseconds = Math.min(100 * 2 ** outages, LONGEST_BACKOFF_MS);
    outages += 1;
    await sleep(milliseconds, undefined, { signal: stopping.signal }).catch(() => {});
  }

  function recovered(): void {
    if (outages > 0) log(`receives again from ${queueUrl}`);
    outages = 0;
  }

  const polling = poll();
  return {
    stats,
    async pause() {
      paused ??= Promise.withResolvers();
      await pending;
    },
    resume() {
      paused?.resolve();
      paused = undefined;
    },
    async stop() {
      stopping.abort();
      paused?.resolve();
      await polling;
    },
  };
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
