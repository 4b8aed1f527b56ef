import { setTimeout as sleep } from "node:timers/promises";
import type { handler } from "@owed/functions/deliver";
import { startEventSource } from "@owed/local";
import { percentile } from "../statistics.ts";
import type { Cloud } from "../with-cloud.ts";
import { type AtKill, momentOf } from "./classify.ts";
import { makeVisible, oweRows, publishAll, until } from "./cloud.ts";
import { deliverSessions, readRows } from "./rows.ts";
import type { Workers } from "./workers.ts";

type Batch = Parameters<typeof handler>[0]["Records"];

/** A notification whose worker was killed. */
export type Victim = { id: string; moment: ReturnType<typeof momentOf> };

export type Round = {
  victims: Victim[];
  /** Messages that nobody acknowledged; they stay invisible until `comeAgain`, as for a visibility timeout. */
  held: number;
  comeAgain(): Promise<void>;
};

/** How the workers of all rounds are killed. */
export type Killer = {
  workers: Workers;
  /** For the sizes of batches and the moments of kills; and for the provider's pace, which is asked in no fixed order. */
  random: () => number;
  providerRandom: () => number;
  /**
   * Milliseconds that batches took whose workers were left alone, from the handing over of the event and from the
   * provider's first request: what the moments of the kills are drawn from.
   */
  usual: { whole: number[]; fromCall: number[] };
  /** The provider's events are lost. */
  noEvent: boolean;
  killed: () => void;
};

/** Batches that are left alone first, to learn how long one takes. */
const leftAlone = 8;
/** Milliseconds that the provider takes at most to accept, and then to answer. */
const providerTakes = 40;

/**
 * Gives `kills` batches of so many real messages to workers in processes of their own, and kills each with SIGKILL
 * at a random moment: half of them between the handing over of the event and a little after the usual end, the
 * others from the provider's first request on, since a new process takes most of its time before that.
 */
export async function killWorkers(
  cloud: Cloud,
  { workers, random, providerRandom, usual, noEvent, killed }: Killer,
  kills: number,
  batchSize: number,
): Promise<Round> {
  const { stack, ledger } = cloud;
  await stack.sources.deliver.pause();
  await stack.sources.feedback.pause();
  const others = new Set(await deliverSessions(ledger));
  const firstEmail = stack.ses.sent.length;
  const called = new Set<string>();
  const seen = new Map<string, { called: boolean; accepted: boolean }>();
  const handles: string[] = [];
  let firstCall = Promise.withResolvers<void>();
  const mend = stack.ses.faults.add(({ tags: { notification = "" } }) => {
    called.add(notification);
    firstCall.resolve();
    const delay = providerRandom() * providerTakes;
    return { delay, hold: sleep(delay + providerRandom() * providerTakes), noEvent };
  });
  const accepted = () =>
    new Set(stack.ses.sent.slice(firstEmail).map((email) => email.tags.notification ?? ""));

  await oweRows(cloud, (kills + leftAlone - usual.whole.length) * batchSize);
  await publishAll(cloud);
  let killsLeft = kills;
  let failure: unknown;
  const source = startEventSource({
    sqs: stack.client,
    queueUrl: stack.queues.notification.url,
    queueArn: stack.queues.notification.arn,
    region: stack.sqs.region,
    functionName: "doomed",
    batchSize,
    maximumConcurrency: 1,
    async handler({ Records }) {
      const alive = await doom(Records).catch((error: unknown) => {
        failure = error;
      });
      // As on Lambda, what a dead worker had stays in the queue, invisible for now.
      if (alive) return;
      handles.push(...Records.map(({ receiptHandle }) => receiptHandle));
      return { batchItemFailures: Records.map(({ messageId }) => ({ itemIdentifier: messageId })) };
    },
    log: () => {},
  });
  try {
    await until("the kills are done", () => killsLeft === 0 || failure !== undefined, 60 + kills * 10);
  } finally {
    await source.stop();
  }
  if (failure) throw failure;
  // What the dead have begun goes on without them: a request at the provider, a statement at the server.
  await until("the provider has answered all", () => [...called].every((id) => accepted().has(id)));
  await until("the server has let go of the dead", async () =>
    (await deliverSessions(ledger)).every((pid) => others.has(pid)),
  );
  mend();
  return { victims: await look(), held: handles.length, comeAgain: () => makeVisible(stack, handles) };

  /** Returns whether the batch was handled to its end. */
  async function doom(records: Batch): Promise<boolean> {
    if (killsLeft === 0) return false;
    const worker = await workers.take();
    const anchor = random() < 0.5 ? "whole" : "fromCall";
    const share = random() * 1.15;
    firstCall = Promise.withResolvers();
    const started = performance.now();
    // Ends with its process, too.
    const work = worker.invoke({ Records: records }).catch(() => {});
    if (usual.whole.length < leftAlone) {
      await Promise.race([firstCall.promise, work]);
      const calledAt = performance.now();
      await work;
      usual.whole.push(performance.now() - started);
      usual.fromCall.push(performance.now() - calledAt);
      await worker.kill();
      return true;
    }
    if (anchor === "fromCall") await Promise.race([firstCall.promise, work]);
    await sleep(share * percentile(usual[anchor], 0.5));
    const acceptedNow = accepted();
    await worker.kill();
    for (const { body } of records) {
      const { id } = JSON.parse(body) as { id: string };
      seen.set(id, { called: called.has(id), accepted: acceptedNow.has(id) });
    }
    killsLeft -= 1;
    killed();
    return false;
  }

  async function look(): Promise<Victim[]> {
    const emails = Map.groupBy(stack.ses.sent.slice(firstEmail), (email) => email.tags.notification ?? "");
    const rows = await readRows(ledger, [...seen.keys()]);
    return rows.map((row) => {
      const atKill: AtKill = {
        row,
        ...(seen.get(row.id) ?? { called: false, accepted: false }),
        emails: emails.get(row.id)?.length ?? 0,
      };
      return { id: row.id, moment: momentOf(atKill) };
    });
  }
}
