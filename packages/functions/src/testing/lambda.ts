import type { Message } from "@aws-sdk/client-sqs";
import { vi } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { environmentOf } from "../../../local/src/environment.ts";
import { createContext } from "../../../local/src/event-source/context.ts";
import { invoke, type SqsFunction } from "../../../local/src/event-source/invoke.ts";
import { toRecord } from "../../../local/src/event-source/record.ts";
import { type LocalSes, type SesEvent, startSes } from "../../../local/src/ses/index.ts";
import { type Gate, startGate } from "./gate.ts";
import { startQueues, type TestQueues } from "./queues.ts";

export type TestLambda = TestQueues & {
  database: TestDatabase;
  /** The functions' way to the database. */
  gate: Gate;
  ses: LocalSes;
  /** What SES has emitted. */
  sesEvents: SesEvent[];
  /** Receives up to ten messages and has the function consume them as Lambda would: what it does not report is deleted. */
  consume(name: keyof TestQueues["queues"], handler: SqsFunction): Promise<Consumed>;
  stop(): Promise<void>;
};

export type Consumed = { received: Message[]; failed: string[] };

/**
 * The local parts, and the environment in which the functions find them as they would on Lambda. The functions
 * read it when they are loaded: load them afterwards.
 */
export async function startLambda(): Promise<TestLambda> {
  const sesEvents: SesEvent[] = [];
  const [database, queues, ses] = await Promise.all([
    createDatabase(),
    startQueues(),
    startSes({ onEvent: (event) => void sesEvents.push(event) }),
  ]);
  const gate = await startGate(database.options);
  const { host, user, password } = database.options;
  if (typeof password !== "string") throw new Error("a test's database has a password");
  const nothing = async () => {};
  const postgres = {
    ...{ host, user, password, port: gate.port, database: database.options.database },
    ...{ pid: 0, stop: nothing, kill: nothing },
  };
  const environment = environmentOf({ postgres, sqs: queues.sqs, ses, queues: queues.queues, settings: {} });
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  // As on AWS: metrics and logs are written.
  vi.stubEnv("POWERTOOLS_METRICS_DISABLED", undefined);
  vi.stubEnv("POWERTOOLS_LOG_LEVEL", "DEBUG");
  return {
    ...queues,
    database,
    gate,
    ses,
    sesEvents,
    async consume(name, handler) {
      const { url, arn } = queues.queues[name];
      const received = await queues.sqs.receive(url);
      const { region } = queues.sqs;
      const Records = received.map((message) => toRecord(message, arn, region));
      const invocation = { handler, functionName: name, region, timeoutSeconds: 30, partialResponses: true };
      const failed = await invoke({ Records }, invocation);
      for (const message of received)
        if (!failed.has(message.MessageId ?? "")) await queues.sqs.remove(url, message);
      return { received, failed: [...failed] };
    },
    async stop() {
      await Promise.all([queues.stop(), ses.stop(), gate.close()]);
      await database.drop();
    },
  };
}

/** A context as Lambda makes one for an invocation. */
export const contextOf = (functionName: string, timeoutSeconds: number) =>
  createContext({ functionName, region: "us-east-1", timeoutSeconds });
