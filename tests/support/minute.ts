import { askQueue } from "@owed/functions/ask-queue";
import { type Channel, defaultDurations, readChannels } from "@owed/ledger";
import type postgres from "postgres";
import { expect } from "vitest";
import type { EventSource } from "../../packages/local/src/event-source.ts";
import type { Swept } from "../../packages/local/src/stack.ts";
import type { Cloud } from "./cloud.ts";
import { eventually } from "./eventually.ts";
import { passTime } from "./time.ts";

export type Summary = Extract<Swept, { swept: true }>;

/** So many minutes of the ledger's time: they pass, and the schedule beats once. */
export async function minute({ sql, sweep }: Pick<Cloud, "sql" | "sweep">, minutes = 1): Promise<Summary> {
  await passMinutes(sql, minutes);
  const summary = await sweep();
  if (!summary.swept) throw new Error(`the sweep was skipped: ${summary.why}`);
  return summary;
}

/** Tables whose times nobody compares with the present, but with one another: the bulk of a ledger, and it can stay. */
const still = ["event", "shipment", "subscriber"];

/** As `passTime`, for tests of hours: moves only the times that are compared with the present. */
export const passMinutes = (sql: postgres.Sql, minutes: number): Promise<void> =>
  passTime(sql, minutes * 60, { still });

export type Worker = {
  source: EventSource;
  /** Waits until no message of the notification queue can be received, and none is being handled. */
  drained(): Promise<void>;
};

/** Starts the consumer of the notification queue. */
export function runWorker(cloud: Pick<Cloud, "sqs" | "client" | "queues" | "run">): Worker {
  const { client, queues, sqs } = cloud;
  let handedOut = 0;
  sqs.faults.observe(({ action, queueName, response }) => {
    if (action !== "ReceiveMessage" || queueName !== "notification.fifo") return;
    handedOut += Array.isArray(response.Messages) ? response.Messages.length : 0;
  });
  const source = cloud.run("deliver");
  return {
    source,
    drained: () =>
      eventually(async () => {
        expect((await askQueue(client, queues.notification.url)).waiting).toBe(0);
        expect(source.stats.deleted + source.stats.failed).toBe(handedOut);
      }),
  };
}

/** The row of the only channel that these tests have. */
export async function readEmailChannel({ ledger }: Pick<Cloud, "ledger">): Promise<Channel> {
  const channels = await readChannels(ledger, defaultDurations);
  const email = channels.find(({ name }) => name === "email");
  if (!email) throw new Error("the ledger has no channel email");
  return email;
}
