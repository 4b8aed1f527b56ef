/** What goes back to a client: a JSON document and, for an error, its older code. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly queryError?: string;
}

/** An error as SQS reports it: `code` is the name of its shape, without a prefix. */
export class SqsError extends Error {
  override readonly name = "SqsError";
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/**
 * The header x-amzn-query-error carries the code of the older query protocol, and the SDK takes an error's
 * name from it. Only these differ from the shape's name (the trait `awsQueryError` in the SQS model).
 */
const QUERY_CODES: Readonly<Record<string, string>> = {
  BatchEntryIdsNotDistinct: "AWS.SimpleQueueService.BatchEntryIdsNotDistinct",
  BatchRequestTooLong: "AWS.SimpleQueueService.BatchRequestTooLong",
  EmptyBatchRequest: "AWS.SimpleQueueService.EmptyBatchRequest",
  InvalidBatchEntryId: "AWS.SimpleQueueService.InvalidBatchEntryId",
  MessageNotInflight: "AWS.SimpleQueueService.MessageNotInflight",
  PurgeQueueInProgress: "AWS.SimpleQueueService.PurgeQueueInProgress",
  QueueDeletedRecently: "AWS.SimpleQueueService.QueueDeletedRecently",
  QueueDoesNotExist: "AWS.SimpleQueueService.NonExistentQueue",
  QueueNameExists: "QueueAlreadyExists",
  TooManyEntriesInBatchRequest: "AWS.SimpleQueueService.TooManyEntriesInBatchRequest",
  UnsupportedOperation: "AWS.SimpleQueueService.UnsupportedOperation",
};

/** The answer of the AWS JSON protocol for an error. */
export function errorAnswer({
  code,
  message,
  status,
}: Pick<SqsError, "code" | "message" | "status">): Answer {
  return {
    status,
    body: JSON.stringify({ __type: `com.amazonaws.sqs#${code}`, message }),
    queryError: `${QUERY_CODES[code] ?? code};${status < 500 ? "Sender" : "Receiver"}`,
  };
}

export const invalidValue = (message: string) => new SqsError("InvalidParameterValue", message);

export const missing = (parameter: string) =>
  new SqsError("MissingParameter", `The request must contain the parameter ${parameter}.`);
