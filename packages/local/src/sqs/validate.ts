import { invalidValue, missing, SqsError } from "./errors.ts";
import { isObject, type Json, objects, text } from "./json.ts";

/** The most that one message, and all messages of one batch together, may have. */
export const MAX_BYTES = 1024 * 1024;
const MAX_ENTRIES = 10;

const ENTRY_ID = /^[A-Za-z0-9_-]{1,80}$/;
/** Alphanumerics and ASCII punctuation: `!` to `~`, so no space. */
const GROUP_OR_DEDUPLICATION_ID = /^[!-~]{1,128}$/;

export const isFifo = (queue: string) => queue.endsWith(".fifo");

/**
 * The entries of a batch of sends, deletes or visibility changes, after what SQS checks for the whole batch.
 *
 * @throws SqsError EmptyBatchRequest, TooManyEntriesInBatchRequest, InvalidBatchEntryId, BatchEntryIdsNotDistinct
 */
export function batchEntries(request: Json): readonly Json[] {
  const entries = objects(request, "Entries");
  if (entries.length === 0) {
    throw new SqsError("EmptyBatchRequest", "There should be at least one entry in the request.");
  }
  if (entries.length > MAX_ENTRIES) {
    throw new SqsError(
      "TooManyEntriesInBatchRequest",
      `Maximum number of entries per request are ${MAX_ENTRIES}. You have sent ${entries.length}.`,
    );
  }
  const ids = new Set<string>();
  for (const entry of entries) {
    const id = text(entry, "Id") ?? "";
    if (!ENTRY_ID.test(id)) {
      throw new SqsError(
        "InvalidBatchEntryId",
        "A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.",
      );
    }
    if (ids.has(id)) throw new SqsError("BatchEntryIdsNotDistinct", `Id ${id} repeated.`);
    ids.add(id);
  }
  return entries;
}

/** @throws SqsError MissingParameter, BatchRequestTooLong */
export function checkBodies(entries: readonly Json[]): void {
  entries.forEach((entry, index) => {
    if (!text(entry, "MessageBody")) throw missing(`SendMessageBatchRequestEntry.${index + 1}.MessageBody`);
  });
  const bytes = entries.reduce((sum, entry) => sum + messageBytes(entry), 0);
  if (bytes > MAX_BYTES) {
    throw new SqsError(
      "BatchRequestTooLong",
      `Batch requests cannot be longer than ${MAX_BYTES} bytes. You have sent ${bytes} bytes.`,
    );
  }
}

/** What SQS checks for each message of a batch by itself: the error, or undefined when it is all right. */
export function messageError(queue: string, entry: Json): SqsError | undefined {
  const group = text(entry, "MessageGroupId");
  if (isFifo(queue) && group === undefined) return missing("MessageGroupId");
  if (group !== undefined && !GROUP_OR_DEDUPLICATION_ID.test(group)) return badId("MessageGroupId", group);
  const deduplication = text(entry, "MessageDeduplicationId");
  if (deduplication !== undefined && !GROUP_OR_DEDUPLICATION_ID.test(deduplication)) {
    return badId("MessageDeduplicationId", deduplication);
  }
  return undefined;
}

/** Body and attributes, as SQS counts them (names, types and values of the attributes). */
export function messageBytes(entry: Json): number {
  let bytes = Buffer.byteLength(text(entry, "MessageBody") ?? "");
  const attributes = isObject(entry.MessageAttributes) ? entry.MessageAttributes : {};
  for (const [name, attribute] of Object.entries(attributes)) {
    if (!isObject(attribute)) continue;
    bytes += Buffer.byteLength(name);
    bytes += Buffer.byteLength(text(attribute, "DataType") ?? "");
    bytes += Buffer.byteLength(text(attribute, "StringValue") ?? "");
    bytes += Buffer.from(text(attribute, "BinaryValue") ?? "", "base64").length;
  }
  return bytes;
}

const badId = (parameter: string, value: string) =>
  invalidValue(
    `Value ${value} for parameter ${parameter} is invalid. Reason: ${parameter} can only include alphanumeric and punctuation characters. 1 to 128 in length.`,
  );
