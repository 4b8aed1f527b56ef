import { SendMessageCommand } from "@aws-sdk/client-sqs";
import {
  listRefusedBodies,
  listRefusedEvents,
  markRetried,
  noteAct,
  type RefusedBody,
  type Said,
} from "@owed/ledger";
import type { Context } from "../command.ts";
import { messageOf } from "../errors.ts";
import type { Result } from "../output.ts";
import { time } from "../text/time.ts";
import { plural } from "../text/words.ts";

/** Which refused events to give back; with `again` also those that were given back before. */
export type Chosen = ({ ids: readonly string[] } | { queue: "event" | "feedback" }) & { again: boolean };

/** Events given back, and noted, at a time. */
const chunk = 10;

type Tools = Pick<Context, "ledger" | "sqs" | "queue" | "progress">;

/**
 * Gives kept bodies back to the queues they came by, oldest first, and keeps who did, and why. Who sends an event twice harms
 * nobody: its consumer knows it by its own id.
 */
export async function giveBack(context: Tools, chosen: Chosen, said: Said): Promise<Result> {
  const { ledger } = context;
  // What is refused once more meanwhile is not given back in the same go, or it would never end.
  const [newest] = await listRefusedEvents(ledger, 1);
  const choice = "ids" in chosen ? chosen : { ...chosen, newest: newest?.id ?? "0" };
  const retried: string[] = [];
  const refused: { id: string; why: string }[] = [];
  const seen = new Set<string>();
  let failed = false;
  for (let after = "0"; !failed; ) {
    const bodies = await listRefusedBodies(ledger, choice, { after, limit: chunk });
    const last = bodies.at(-1);
    if (!last) break;
    after = last.id;
    const done: string[] = [];
    await Promise.all(
      bodies.map(async (kept) => {
        seen.add(kept.id);
        const obstacle = obstacleTo(kept, chosen.again);
        const why = obstacle ?? (await send(context, kept));
        if (why === null) done.push(kept.id);
        else refused.push({ id: kept.id, why });
        failed ||= obstacle === null && why !== null;
      }),
    );
    await markRetried(ledger, done, said.actor);
    retried.push(...done);
    if (retried.length > chunk) context.progress(`gave back ${retried.length}`);
  }
  if ("ids" in chosen && !failed)
    for (const id of chosen.ids.filter((one) => !seen.has(one)))
      refused.push({ id, why: "there is no such refused event" });
  if (retried.length > 0) {
    const of = "queue" in chosen ? ` of the ${chosen.queue} queue` : "";
    await noteAct(ledger, "gave_back", `${plural(retried.length, "refused event")}${of}`, said);
  }
  return {
    json: { retried, refused, ...said },
    lines: [
      `${plural(retried.length, "refused event")} given back: what is still wrong is refused anew.`,
      ...refused.map(({ id, why }) => `not ${id}: ${why}`),
      ...(failed ? ["What comes after these was not tried."] : []),
    ],
    exitCode: failed ? 1 : refused.length > 0 ? 3 : 0,
  };
}

function obstacleTo({ bytes, body, retriedAt, retriedBy }: RefusedBody, again: boolean): string | null {
  if (bytes > body.length)
    return `its body has ${bytes} bytes and only the first ${body.length} were kept: the platform must send it again`;
  if (retriedAt && !again)
    return `it was given back ${time(retriedAt)} by ${retriedBy}: --again does it once more`;
  return null;
}

/** Null when SQS took it, else why not. */
async function send(
  context: Pick<Tools, "sqs" | "queue">,
  { queue, body }: RefusedBody,
): Promise<string | null> {
  const QueueUrl = context.queue(queue).url;
  const sqs = await context.sqs();
  try {
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: body.toString("utf8") }));
    return null;
  } catch (error) {
    return `SQS did not take it (${messageOf(error)})`;
  }
}
