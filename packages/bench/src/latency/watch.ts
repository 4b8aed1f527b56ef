import type { Stack } from "@owed/local/stack";

/** When the queues took, and handed out, what is told of an event or a notification: by its id, in milliseconds since the epoch. */
export type Seen = {
  inEventQueue: Map<string, number>;
  atIngest: Map<string, number>;
  inNotificationQueue: Map<string, number>;
  atDeliver: Map<string, number>;
  stop(): void;
};

type SqsAnswered = Parameters<Parameters<Stack["sqs"]["faults"]["observe"]>[0]>[0];

/** Milliseconds since the epoch, finer than Date's. */
export const now = (): number => performance.timeOrigin + performance.now();

/** Watches the queues of a stack. */
export function watchQueues({ sqs, queues }: Stack): Seen {
  const seen = {
    ...{ inEventQueue: new Map<string, number>(), atIngest: new Map<string, number>() },
    ...{ inNotificationQueue: new Map<string, number>(), atDeliver: new Map<string, number>() },
  };
  const nameOf = ({ url }: { url: string }) => url.split("/").at(-1);
  const eventQueue = nameOf(queues.event);
  const notificationQueue = nameOf(queues.notification);
  const stop = sqs.faults.observe((answered) => {
    const { action, queueName } = answered;
    const sent = action === "SendMessageBatch";
    if (!sent && action !== "ReceiveMessage") return;
    const bodies = sent ? bodiesOf(answered.request, "Entries", "MessageBody") : received(answered);
    if (queueName === eventQueue)
      for (const { detail } of bodies) first(sent ? seen.inEventQueue : seen.atIngest, Object(detail).id);
    if (queueName === notificationQueue)
      for (const { id } of bodies) first(sent ? seen.inNotificationQueue : seen.atDeliver, id);
  });
  return { ...seen, stop };
}

const received = ({ response }: SqsAnswered) => bodiesOf(response, "Messages", "Body");

type Body = { id?: unknown; detail?: unknown };

function bodiesOf(from: object, list: string, member: string): Body[] {
  const items: unknown = Reflect.get(from, list);
  if (!Array.isArray(items)) return [];
  return items.map((item) => JSON.parse(String(Object(item)[member])));
}

/** The first time counts: what comes again came already. */
function first(times: Map<string, number>, id: unknown): void {
  if (typeof id === "string" && !times.has(id)) times.set(id, now());
}
