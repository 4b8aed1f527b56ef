import { randomUUID } from "node:crypto";
import type { SQSClient } from "@aws-sdk/client-sqs";
import type { Leased } from "@owed/ledger";
import { vi } from "vitest";
import type { SqsFault } from "../../../local/src/sqs/index.ts";
import { startTestSqs, type TestSqs } from "../../../local/src/sqs/testing.ts";
import { type Published, Publisher, type PublishOptions, publish } from "../publish/publish.ts";
import { createSqsClient } from "../sqs.ts";
import { pointSdkAt } from "./environment.ts";

export type Publishing = {
  sqs: TestSqs;
  client: SQSClient;
  queueUrl: string;
  /** Publishes rows by the functions' own client, if no other is given. */
  send(rows: readonly Leased[], more?: Partial<PublishOptions>): Promise<Published>;
  /** Publishes slice after slice by it. */
  publisher(more?: Partial<PublishOptions>): Publisher;
  /** What the queue took from now on, call by call, in the order in which it did. */
  watch(): string[][];
  /** Lets sends go wrong from now on, by the ids of their rows and the number of the call. */
  onSends(fault: (ids: string[], call: number) => SqsFault | undefined): void;
  stop(): Promise<void>;
};

/** A FIFO queue of a test's own. */
export async function startPublishing(): Promise<Publishing> {
  const sqs = await startTestSqs();
  pointSdkAt(sqs);
  const queueUrl = await sqs.fifo();
  const client = createSqsClient(8);
  const optionsWith = (more: Partial<PublishOptions> = {}): PublishOptions => ({
    ...{
      sqs: client,
      queueUrl,
      lanes: 4,
      held: new Map(),
      lease: 120,
      mayCall: () => true,
      random: () => 0.5,
    },
    ...more,
  });
  return {
    sqs,
    client,
    queueUrl,
    send: (rows, more) => publish(rows, optionsWith(more)),
    publisher: (more) => new Publisher(optionsWith(more)),
    watch() {
      const calls: string[][] = [];
      sqs.faults.observe(({ action, status, request, response }) => {
        if (action !== "SendMessageBatch" || status !== 200) return;
        const entries = request.Entries as { Id: string; MessageBody: string }[];
        const taken = new Set((response.Successful as { Id: string }[]).map(({ Id }) => Id));
        calls.push(entries.filter(({ Id }) => taken.has(Id)).map(idOf));
      });
      return calls;
    },
    onSends(fault) {
      let call = 0;
      sqs.faults.add(({ action, request }) =>
        action === "SendMessageBatch" ? fault((request.Entries as object[]).map(idOf), call++) : undefined,
      );
    },
    async stop() {
      vi.unstubAllEnvs();
      client.destroy();
      await sqs.stop();
    },
  };
}

/** Rows of these groups, in this order. */
export const rowsOf = (groups: readonly (number | string)[]): Leased[] =>
  groups.map((group) => ({ id: randomUUID(), generation: 0, token: 1, group: String(group) }));

/** Rows of as many groups. */
export const rowsApart = (rows: number): Leased[] => rowsOf([...Array(rows).keys()]);

/** The row that a message is about. */
export const idOf = (entry: { MessageBody?: unknown }): string => JSON.parse(String(entry.MessageBody)).id;

export const idsOf = (rows: readonly Leased[]): string[] => rows.map((row) => row.id);
