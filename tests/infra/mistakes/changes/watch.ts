import type { ChangeMistake } from "../change.ts";

/** What is sent and watched, and the functions and stages as a whole. */
export const watchChanges: ChangeMistake[] = [
  { rule: "SES tells all that feedback takes as evidence", changes: [["EmailEvents", '"BOUNCE",', ""]] },
  {
    rule: "emails go out over TLS, and their reputation is measured",
    changes: [["EmailConfigurationSet", "REQUIRE", "OPTIONAL"]],
  },
  {
    rule: "a rule is on, and names the events that it takes",
    changes: [["EventRule", "detail-type", "version"]],
  },
  {
    rule: "the bus's rule takes the events that ingest takes",
    changes: [["EventRule", "shipment.status_changed", "shipment.changed"]],
  },
  {
    rule: "a metric that is looked at is one that its service writes",
    changes: [["EventDlqAlarm", "ApproximateNumberOfMessagesVisible", "NumberOfMessagesVisible"]],
  },
  {
    rule: "a dimension names something of this stack",
    changes: [["EventDlqAlarm", '"QueueName":"owed-production', '"QueueName":"owed-staging']],
  },
  {
    rule: "an alarm looks as CloudWatch can",
    changes: [["ChannelClosedAlarm", '"period":300', '"period":290']],
  },
  {
    rule: "an alarm looks as CloudWatch can",
    changes: [["UnknownOutcomesAlarm", "+ m1", "+ m2"]],
  },
  {
    rule: "an alarm reaches somebody",
    changes: [["SweepMissingAlarm", '"alarmActions"', '"insufficientDataActions"']],
  },
  {
    rule: "the dashboard shows every alarm",
    changes: [["Dashboard", "alarm:owed-production-BounceRate", "alarm:owed-production-Bounce"]],
  },
  {
    rule: "each stage has its function, with its own handler",
    changes: [["function Ingest", "src/ingest/", "src/feedback/"]],
  },
  { rule: "a function runs on Node 24 and arm64", changes: [["SweepFunction", "nodejs24.x", "nodejs22.x"]] },
  {
    rule: "a function's timeout is what its code counts on",
    changes: [["SweepFunction", '"timeout":60', '"timeout":20']],
  },
  {
    rule: "a function is within Lambda's limits",
    changes: [["SweepFunction", '"MIGRATED":"', `"MIGRATED":"${"x".repeat(4096)}`]],
  },
  {
    rule: "a function is within Lambda's limits",
    changes: [["SweepFunction", '"MIGRATED":', '"AWS_REGION":']],
  },
  { rule: "a function's bundle is small", changes: [["function Deliver", '"bytes":', '"bytes":10']] },
  {
    rule: "a function trusts RDS's certificates, and has them with it",
    changes: [["function Migrate", ',"migrations"', ""]],
  },
  {
    rule: "a function's log is kept as long as the settings say, as JSON",
    changes: [["DeliverLog", '"retentionInDays":90', '"retentionInDays":0']],
  },
  {
    rule: "only an event source or the schedule starts a function: none has a URL",
    changes: [["AlarmKey", "aws:kms/key:Key", "aws:lambda/functionUrl:FunctionUrl"]],
  },
  {
    rule: "no function that a queue feeds has reserved concurrency: throttling spends receives",
    changes: [["IngestFunction", '"timeout"', '"reservedConcurrentExecutions":2,"timeout"']],
  },
  {
    rule: "what is reserved leaves enough to others",
    changes: [["SweepFunction", '"timeout"', '"reservedConcurrentExecutions":1,"timeout"']],
  },
  { rule: "every value is known", changes: [["EmailIdentity", "mail.shop-seven.com", "mail.undefined"]] },
  {
    rule: "names are as AWS takes them, and none is there twice",
    changes: [["FeedbackRule", '"name":"owed-production-feedback"', '"name":"owed-production-event"']],
  },
  {
    rule: "what has a name has its stage in it",
    changes: [["AlarmTopic", '"name":"owed-production-alarm"', '"name":"owed-alarm"']],
  },
  {
    rule: "everything is in one region, by one provider",
    changes: [["AlarmKey", "aws:kms/key:Key", "pulumi:providers:aws"]],
  },
  {
    rule: "sst dev costs nothing by the hour",
    in: "dev",
    changes: [["EventArchive", "aws:cloudwatch/eventArchive:EventArchive", "aws:kms/key:Key"]],
  },
  {
    rule: "functions write to the namespace that is looked at",
    changes: [["DeliverFunction", "Owed/production", "Owed"]],
  },
  {
    rule: "CloudWatch may use the key of the alarms' topic",
    changes: [["AlarmTopic", "AlarmKey-id", "alias/aws/sns"]],
  },
  {
    rule: "a function trusts RDS's certificates, and has them with it",
    changes: [["DeliverFunction", "NODE_EXTRA_CA_CERTS", "CA_CERTS"]],
  },
];
