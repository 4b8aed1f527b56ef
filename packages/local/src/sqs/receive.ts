import type { Backend } from "./backend.ts";
import { digest, mayHoldStoredBody, sentBody } from "./body.ts";
import type { Answer } from "./errors.ts";
import { type Json, objects, parseObject, text } from "./json.ts";

/**
 * ReceiveMessage, with bodies as they were sent.
 *
 * When the client went away during its long poll, the messages become visible again at once: SQS does not
 * hand messages to a closed connection, and with fauxqs they would be in flight for a whole visibility
 * timeout. (They have one receive more then; that much differs.)
 */
export async function receiveMessage(backend: Backend, request: Json, gone: () => boolean): Promise<Answer> {
  const answer = await backend.call("ReceiveMessage", request);
  if (answer.status >= 400) return answer;
  if (gone()) {
    await giveBack(backend, request.QueueUrl, objects(parseObject(answer.body), "Messages"));
    return answer;
  }
  if (!mayHoldStoredBody(answer.body)) return answer;
  const response = parseObject(answer.body);
  const Messages = objects(response, "Messages").map((message) => {
    const Body = sentBody(text(message, "Body") ?? "");
    return { ...message, Body, MD5OfBody: digest(Body) };
  });
  return { status: answer.status, body: JSON.stringify({ ...response, Messages }) };
}

async function giveBack(backend: Backend, QueueUrl: unknown, messages: readonly Json[]): Promise<void> {
  if (messages.length === 0) return;
  const Entries = messages.map(({ ReceiptHandle }, index) => ({
    Id: String(index),
    ReceiptHandle,
    VisibilityTimeout: 0,
  }));
  await backend.call("ChangeMessageVisibilityBatch", { QueueUrl, Entries });
}
