import type { ChangeMistake } from "../change.ts";

/** What moves the data: queues, event sources, the schedule, migrate. */
export const dataChanges: ChangeMistake[] = [
  {
    rule: "a message is received five times before it is dead",
    changes: [["NotificationQueueQueue", '\\"maxReceiveCount\\":5', '\\"maxReceiveCount\\":3']],
  },
  {
    rule: "the last receive that deliver knows of is the queue's",
    changes: [["NotificationQueueQueue", '\\"maxReceiveCount\\":5', '\\"maxReceiveCount\\":6']],
  },
  {
    rule: "a queue keeps messages for 14 days",
    changes: [["EventQueueQueue", '"messageRetentionSeconds":1209600', '"messageRetentionSeconds":345600']],
  },
  {
    rule: "a FIFO queue has high throughput, and its sender's deduplication ids",
    changes: [["NotificationQueueQueue", "perMessageGroupId", "perQueue"]],
  },
  {
    rule: "a FIFO queue has high throughput, and its sender's deduplication ids",
    changes: [
      ["NotificationDlqQueue", '"contentBasedDeduplication":false', '"contentBasedDeduplication":true'],
    ],
  },
  {
    rule: "notifications go through a FIFO queue",
    changes: [["NotificationQueueQueue", '"fifoQueue":true', '"fifoQueue":false']],
  },
  {
    rule: "the standard queues take events, each with its own dead-letter queue",
    changes: [["EventDlqQueue", '"fifoQueue":false', '"fifoQueue":true']],
  },
  {
    rule: "a queue's attributes are within SQS's limits",
    changes: [["EventQueueQueue", '"visibilityTimeoutSeconds":180', '"visibilityTimeoutSeconds":86400']],
  },
  {
    rule: "a queue names its dead-letter queue's only source",
    changes: [["EventDlqRedriveAllowPolicy", "byQueue", "allowAll"]],
  },
  {
    rule: "each queue has the consumer that belongs to it",
    changes: [["IngestSource", "function:owed-production-ingest", "function:owed-production-feedback"]],
  },
  {
    rule: "nobody consumes a dead-letter queue",
    changes: [["IngestSource", "EventQueueQueue", "EventDlqQueue"]],
  },
  {
    rule: "an event source is on, but for deliver's and feedback's while the stage is held",
    changes: [["DeliverSource", '"enabled":true', '"enabled":false']],
  },
  {
    rule: "a standard queue's batch over 10 messages has a window",
    changes: [["IngestSource", '"batchSize":10', '"batchSize":100']],
  },
  {
    rule: "deliver divides a channel's rate by its event source's maximum concurrency",
    changes: [["DeliverSource", '"maximumConcurrency":4', '"maximumConcurrency":5']],
  },
  {
    rule: "the sweep runs as often as its settings say, at no flexible time",
    changes: [["SweepScheduleSchedule", "rate(1 minute)", "rate(5 minutes)"]],
  },
  {
    rule: "the sweep runs as often as its settings say, at no flexible time",
    changes: [["SweepScheduleSchedule", '"mode":"OFF"', '"mode":"FLEXIBLE"']],
  },
  {
    rule: "a beat that failed is not repeated, and one that is late is dropped",
    changes: [["SweepScheduleSchedule", '"maximumEventAgeInSeconds":60', '"maximumEventAgeInSeconds":3600']],
  },
  {
    rule: "the schedule may start the sweep, and nothing else",
    changes: [["SweepScheduleRole", "function:owed-production-sweep", "function:owed-production-migrate"]],
  },
  {
    rule: "a deployment migrates, and sst dev does not",
    changes: [["MigrateRun", "aws:lambda/invocation:Invocation", "aws:lambda/function:None"]],
  },
  {
    rule: "migrate runs again when a migration or its own code changes",
    changes: [["MigrateRun", "Migrate-code", "code"]],
  },
  {
    rule: "migrate runs when the database and the way to its secret stand",
    changes: [["MigrateRun", "VpcSecretsEndpoint", "VpcSqsEndpoint"]],
  },
  {
    rule: "functions are told of another schema, and so replaced after it",
    changes: [["DeliverFunction", '"MIGRATED":"', '"MIGRATED":"before ']],
  },
  {
    rule: "every queue that is consumed has a dead-letter queue",
    changes: [["EventQueueQueue", '"redrivePolicy"', '"policy"']],
  },
  {
    rule: "every queue is encrypted",
    changes: [["EventDlqQueue", '"sqsManagedSseEnabled":true', '"sqsManagedSseEnabled":false']],
  },
  {
    rule: "a consumer's partial responses are heard",
    changes: [["DeliverSource", '["ReportBatchItemFailures"]', "[]"]],
  },
  {
    rule: "reserved concurrency is no less than the event source's maximum",
    changes: [["DeliverFunction", '"timeout"', '"reservedConcurrentExecutions":2,"timeout"']],
  },
  {
    rule: "each rule brings the events it is for to a queue that lets it in",
    changes: [["EventTarget", '"eventBusName":"owed-production"', '"eventBusName":"default"']],
  },
];
