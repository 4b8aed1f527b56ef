import type { Change, ChangeMistake } from "../change.ts";

const endpoints = {
  whole: "an endpoint's policy lets out what is expected, and nothing else",
  each: "an endpoint lets each function do what its role allows it",
};

/** A mistake in an endpoint's policy that keeps a function from what it needs. */
const inEndpoint = (...changes: Change[]): ChangeMistake[] =>
  [endpoints.whole, endpoints.each].map((rule) => ({ rule, changes }));

const trust = "a role's trust is in one service, on no other conditions than expected";
const key = "a key is the account's, and of the one service that it is for";
const way =
  "functions may leave for the database and the endpoints, deliver for inboxes, and on no other port";
const told = "functions are told of this stage's database, in its region, by IAM over TLS";
const ses = "what SES tells of this stage's emails is taken once, and of no other's";
const archive = "the archive keeps what the bus's rule takes, for as long as a backup is kept";
const judged = "an alarm judges an age or a depth by its worst, and a count by its sum";

/** Policies, patterns and ways where one word is another. */
export const documentChanges: ChangeMistake[] = [
  ...inEndpoint(["VpcSqsEndpoint", ":owed-production-*", ":other-*"]),
  ...inEndpoint(["VpcSecretsEndpoint", "secret:rds!db-*", "secret:owed-*"]),
  ...inEndpoint(["VpcEmailEndpoint", "123456789012", "210987654321"]),
  ...inEndpoint(["VpcEmailEndpoint", "aws:PrincipalAccount", "aws:SourceAccount"]),
  ...inEndpoint(["VpcSqsEndpoint", '\\"Effect\\":\\"Allow\\"', '\\"Effect\\":\\"Deny\\"']),
  { rule: endpoints.whole, changes: [["VpcSqsEndpoint", ":owed-production-*", ":*"]] },
  {
    rule: endpoints.whole,
    changes: [["VpcSecretsEndpoint", '\\"AWS\\":\\"*\\"', '\\"AWS\\":\\"210987654321\\"']],
  },
  { rule: trust, changes: [["SweepScheduleRole", "aws:SourceAccount", "aws:SourceOwner"]] },
  { rule: trust, changes: [["SweepScheduleRole", "StringEquals", "StringNotEquals"]] },
  { rule: trust, changes: [["DeliverRole", "lambda.amazonaws.com", "scheduler.amazonaws.com"]] },
  { rule: key, changes: [["AlarmKey", "aws:SourceAccount", "aws:SourceOwner"]] },
  { rule: key, changes: [["AlarmKey", "cloudwatch.amazonaws.com", "sns.amazonaws.com"]] },
  {
    rule: "a queue's policy lets in its rules and topics, and nothing else",
    changes: [["FeedbackQueuePolicy", "ArnEquals", "ArnNotEquals"]],
  },
  { rule: way, changes: [["VpcFunctionsSecurityGroup", '"toPort":5432', '"toPort":5433']] },
  { rule: way, changes: [["VpcFunctionsSecurityGroup", "5432", "5433"]] },
  { rule: way, changes: [["VpcFunctionsSecurityGroup", "443", "80"]] },
  { rule: told, changes: [["function Deliver", '"region":"eu-west-1"', '"region":"us-west-2"']] },
  { rule: told, changes: [["function Sweep", '"tls":"verify"', '"tls":"off"']] },
  { rule: ses, changes: [["FeedbackRule", "ses:configuration-set", "ses:configuration_set"]] },
  { rule: ses, changes: [["FeedbackRule", '[\\"owed-production\\"]', '[\\"owed-staging\\"]']] },
  {
    rule: "a shipment event is taken once, as the platform puts it on the bus",
    changes: [["EventRule", '\\"detail-type\\"', '\\"source\\":[\\"shop\\"],\\"detail-type\\"']],
  },
  { rule: archive, changes: [["EventArchive", "shipment.status_changed", "shipment.changed"]] },
  { rule: archive, changes: [["EventArchive", '"retentionDays":30', '"retentionDays":7']] },
  { rule: judged, changes: [["OldestOwedAlarm", '"Maximum"', '"Average"']] },
  { rule: judged, changes: [["EventDlqAlarm", '"Maximum"', '"Average"']] },
  { rule: judged, changes: [["UnknownOutcomesAlarm", '"stat":"Sum"', '"stat":"Average"']] },
  {
    rule: "an alarm fills no gaps: data that comes late would never be seen",
    changes: [["UnknownOutcomesAlarm", "m0 + m1", "FILL(m0, 0) + FILL(m1, 0)"]],
  },
  {
    rule: "migrate has five minutes at least",
    changes: [["MigrateFunction", '"timeout":300', '"timeout":3']],
  },
  {
    rule: "an operator may do exactly what a redrive, a pause and the ledger need",
    changes: [["Operator", "scheduler:ListSchedules", "scheduler:DeleteSchedule"]],
  },
];
