import { countMessages, lastMove } from "@owed/cli/dlq/move";
import { messageOf } from "@owed/cli/errors";
import { type QueueName, queueNames } from "@owed/cli/services";
import { html } from "hono/html";
import type { Context } from "../context.ts";
import type { Html } from "../page/page.ts";
import { table, time } from "../page/parts.ts";
import { count } from "./parts.ts";

export type Letters = { messages: number; last: Awaited<ReturnType<typeof lastMove>> };

/** What a dead-letter queue holds, about, and SQS's latest redrive of it. */
export async function readLetters({ services }: Context, name: QueueName): Promise<Letters> {
  const { url, arn } = services.queue(name).deadLetters;
  const sqs = await services.sqs();
  const [messages, last] = await Promise.all([countMessages(sqs, url), lastMove(sqs, arn)]);
  return { messages, last };
}

type Row = { name: QueueName; read: Letters | { error: string } };

/** The dead-letter queues. SQS's silence takes nothing from what the ledger knows. */
export async function queues(context: Context): Promise<Html> {
  const rows = await Promise.all(
    queueNames.map(async (name): Promise<Row> => {
      try {
        return { name, read: await readLetters(context, name) };
      } catch (error) {
        return { name, read: { error: messageOf(error) } };
      }
    }),
  );
  return table(
    "Messages that SQS keeps for 14 days",
    [
      { name: "Queue", cell: ({ name }) => html`<a href="/dead/queue/${name}">${name}</a>` },
      {
        name: "Messages",
        cell: ({ read }) => ("error" in read ? "unknown" : count(read.messages)),
        number: true,
      },
      {
        name: "SQS's last redrive",
        cell: ({ read }) => ("error" in read ? `SQS did not answer: ${read.error}` : lastText(read)),
      },
    ],
    rows,
  );
}

export function lastText({ last }: Letters): Html {
  if (!last) return html`none is known`;
  const of = last.toMove === null ? "" : ` of ${count(last.toMove)}`;
  const failure = last.failure ? ` (${last.failure})` : "";
  return html`${last.status.toLowerCase()}, moved ${count(last.moved)}${of}${failure}${last.startedAt ? html`, begun ${time(last.startedAt)}` : ""}`;
}
