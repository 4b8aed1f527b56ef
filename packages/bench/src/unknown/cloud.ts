import { setTimeout as sleep } from "node:timers/promises";
import { ChangeMessageVisibilityBatchCommand } from "@aws-sdk/client-sqs";
import { askQueue } from "@owed/functions/ask-queue";
import { proveDelivery } from "@owed/ledger";
import type { Stack } from "@owed/local/stack";
import { owe } from "../../../../tests/support/shipment.ts";
import { passTime } from "../../../../tests/support/time.ts";
import type { Cloud } from "../with-cloud.ts";

/** Tries until it holds; seconds of real time bound it. */
export async function until(
  what: string,
  holds: () => Promise<boolean> | boolean,
  seconds = 120,
): Promise<void> {
  const end = performance.now() + seconds * 1000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`waited ${seconds} s in vain until ${what}`);
    await sleep(10);
  }
}

/** Owes so many notifications, each to one recipient of a shipment of its own. */
export const oweRows = ({ ledger }: Pick<Cloud, "ledger">, rows: number): Promise<unknown> =>
  ledger.run((sql) => owe({ sql }, rows, "delivery_exception"), { repeatable: false });

/** Lets seconds pass in the ledger. A little more each time: rows that stand a minute apart must not meet. */
export const letPass = ({ ledger }: Pick<Cloud, "ledger">, seconds: number): Promise<void> =>
  ledger.run((sql) => passTime(sql, seconds + Math.random() / 10), { repeatable: false });

/** Beats until everything due is in the queue. */
export async function publishAll({ stack, ledger }: Cloud): Promise<void> {
  await until("everything due is in the queue", async () => {
    await stack.schedule.trigger();
    const [row] = await ledger.run(
      (sql) => sql<{ left: number }[]>`
        SELECT count(*)::int AS left FROM owed.notification WHERE state IN ('pending', 'leased') AND owed_at <= now()`,
      { repeatable: true },
    );
    return row?.left === 0;
  });
}

/** Waits until consumers have handled what the queues hold, but for messages that are held back. */
export async function consumed(
  { stack }: Pick<Cloud, "stack">,
  queues: readonly ("notification" | "feedback")[],
  heldBack = 0,
): Promise<void> {
  await stack.bus.idle();
  for (const name of queues) {
    const most = name === "notification" ? heldBack : 0;
    await until(`the ${name} queue is consumed`, async () => {
      const { total } = await askQueue(stack.client, stack.queues[name].url);
      return total <= most;
    });
  }
}

export const unfinished = async ({ ledger }: Pick<Cloud, "ledger">): Promise<number> =>
  (await proveDelivery(ledger)).unfinished;

/** Lets messages of the notification queue that somebody received come again now. */
export async function makeVisible({ client, queues }: Stack, handles: readonly string[]): Promise<void> {
  const QueueUrl = queues.notification.url;
  for (let from = 0; from < handles.length; from += 10) {
    const Entries = handles
      .slice(from, from + 10)
      .map((ReceiptHandle, place) => ({ Id: String(place), ReceiptHandle, VisibilityTimeout: 0 }));
    await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries }));
  }
}
