export type { SqsAnswered, SqsCall, SqsEntry, SqsFault, SqsFaults } from "./faults.ts";
export {
  type CreatedQueue,
  type CreatedQueueWithDeadLetters,
  createQueues,
  createShadowQueue,
  QUEUES,
  type QueueDefinition,
} from "./queues.ts";
export { type LocalSqs, startSqs } from "./start.ts";
