import { randomUUID } from "node:crypto";
import type { Backend } from "./backend.ts";
import { digest, storedBody } from "./body.ts";
import type { DedupWindow } from "./dedup.ts";
import { invalidValue, missing, SqsError } from "./errors.ts";
import type { SqsFault } from "./faults.ts";
import { type Json, objects, text } from "./json.ts";
import { batchEntries, checkBodies, isFifo, MAX_BYTES, messageBytes, messageError } from "./validate.ts";

export interface Sender {
  readonly backend: Backend;
  readonly dedup: DedupWindow;
}

type SendFault = Pick<SqsFault, "failed" | "swallow">;

/**
 * SendMessageBatch: refused, repeated and swallowed entries are answered here, the rest goes on in one call.
 *
 * @throws SqsError when the batch as a whole is refused
 */
export async function sendMessageBatch(
  { backend, dedup }: Sender,
  queue: string,
  request: Json,
  fault: SendFault,
): Promise<Json> {
  const entries = batchEntries(request);
  checkBodies(entries);
  const failed: Json[] = [];
  const successful: Json[] = [];
  const onward: Json[] = [];
  for (const entry of entries) {
    const { Id } = entry;
    const refused = refusal(queue, entry, fault);
    const accepted = refused ? undefined : withoutQueue(dedup, queue, entry, fault);
    if (refused) failed.push({ Id, ...refused });
    else if (accepted) successful.push({ Id, ...accepted });
    else onward.push(entry);
  }
  for (const together of calls(onward)) {
    const Entries = together.map(stored);
    const answer = await backend.ask("SendMessageBatch", { QueueUrl: request.QueueUrl, Entries });
    failed.push(...objects(answer, "Failed"));
    const sent = new Map(objects(answer, "Successful").map((success) => [success.Id, success]));
    for (const entry of together) {
      const success = sent.get(entry.Id);
      if (success) successful.push(accept(dedup, queue, entry, success));
    }
  }
  return { Successful: successful, Failed: failed };
}

/** SendMessage: a batch of one. @throws SqsError */
export async function sendMessage(
  sender: Sender,
  queue: string,
  request: Json,
  fault: SendFault,
): Promise<Json> {
  const body = text(request, "MessageBody");
  if (!body) throw missing("MessageBody");
  if (messageBytes(request) > MAX_BYTES) {
    throw invalidValue(
      `One or more parameters are invalid. Reason: Message must be shorter than ${MAX_BYTES} bytes.`,
    );
  }
  const { QueueUrl, ...message } = request;
  const batch = { QueueUrl, Entries: [{ ...message, Id: "message" }] };
  const answer = await sendMessageBatch(sender, queue, batch, fault);
  const [failed] = objects(answer, "Failed");
  if (failed) {
    const status = failed.SenderFault === false ? 500 : 400;
    throw new SqsError(text(failed, "Code") ?? "", text(failed, "Message") ?? "", status);
  }
  const { Id: _, ...sent } = objects(answer, "Successful")[0] ?? {};
  return sent;
}

/** The `Failed[]` entry of a message that breaks a rule of SQS or that a fault picks out. */
function refusal(queue: string, entry: Json, { failed }: SendFault): Json | undefined {
  const error = messageError(queue, entry);
  if (error) return { SenderFault: true, Code: error.code, Message: error.message };
  if (messageBytes(stored(entry)) > MAX_BYTES) {
    const Message = "The message is within the limit of SQS, but its text cannot be stored here in 1 MiB.";
    return { SenderFault: true, Code: "InvalidParameterValue", Message };
  }
  const fault = failed?.(entry);
  return fault && { SenderFault: fault.senderFault ?? false, Code: fault.code, Message: fault.message };
}

/** What SQS says of a message that it knows already, or that a fault loses. */
function withoutQueue(
  dedup: DedupWindow,
  queue: string,
  entry: Json,
  { swallow }: SendFault,
): Json | undefined {
  const id = isFifo(queue) ? text(entry, "MessageDeduplicationId") : undefined;
  const known = id ? dedup.find(queue, id) : undefined;
  const lost = !known && (typeof swallow === "function" ? swallow(entry) : swallow);
  if (!known && !lost) return undefined;
  const { messageId, sequenceNumber } = known ?? {
    messageId: randomUUID(),
    sequenceNumber: id && String(Date.now()).padStart(20, "0"),
  };
  if (id && lost) dedup.remember(queue, id, { messageId, sequenceNumber });
  return {
    MessageId: messageId,
    MD5OfMessageBody: digest(text(entry, "MessageBody") ?? ""),
    SequenceNumber: sequenceNumber,
  };
}

/** Remembers a message that the queue accepted, and gives the digest of the body as it was sent. */
function accept(dedup: DedupWindow, queue: string, entry: Json, success: Json): Json {
  const id = isFifo(queue) ? text(entry, "MessageDeduplicationId") : undefined;
  if (id) {
    dedup.remember(queue, id, {
      messageId: text(success, "MessageId") ?? "",
      sequenceNumber: text(success, "SequenceNumber"),
    });
  }
  const body = text(entry, "MessageBody") ?? "";
  return storedBody(body) === body ? success : { ...success, MD5OfMessageBody: digest(body) };
}

const stored = (entry: Json): Json => ({
  ...entry,
  MessageBody: storedBody(text(entry, "MessageBody") ?? ""),
});

/** In one call when it fits as it is stored, else one by one. */
function calls(entries: readonly Json[]): (readonly Json[])[] {
  if (entries.length === 0) return [];
  const bytes = entries.reduce((sum, entry) => sum + messageBytes(stored(entry)), 0);
  return bytes > MAX_BYTES ? entries.map((entry) => [entry]) : [entries];
}
