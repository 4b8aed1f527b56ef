import type { Change, ChangeMistake } from "../change.ts";

const inChannels = (rule: string, ...changes: Change[]): ChangeMistake => ({
  rule,
  in: "every channel",
  changes,
});

const number = "the number is the one that was asked for, and its recipients stop by AWS's own list for it";
const told = "deliver alone is told who texts come from, where the settings ask for them";
const events = "what AWS tells of this stage's texts is taken once where there are any, and of no other's";
const answers = "answers go by their own topic, raw, to the feedback queue";
const topic = "the answers' topic lets in End User Messaging of this account, and nobody else";
const policy = "a queue's policy lets in its rules and topics, and nothing else";
const key = "a key is the account's, and of the one service that it is for";
const way =
  "functions may leave for the database and the endpoints, deliver for inboxes, and on no other port";
const webhooksKey = "deliver alone has the webhooks' key, where the stage has webhooks";

/** Texts and webhooks, where one word is another. */
export const channelChanges: ChangeMistake[] = [
  inChannels(number, ["SmsNumber", '"isoCountryCode":"GB"', '"isoCountryCode":"US"']),
  inChannels(number, ["SmsNumber", '"optOutListName":"owed-production"', '"optOutListName":"Default"']),
  inChannels(number, ["SmsNumber", '"selfManagedOptOutsEnabled":false', '"selfManagedOptOutsEnabled":true']),
  inChannels(number, ["SmsNumber", "TRANSACTIONAL", "PROMOTIONAL"]),
  inChannels("production's number can't be released by mistake", [
    "SmsNumber",
    '"deletionProtectionEnabled":true',
    '"deletionProtectionEnabled":false',
  ]),
  inChannels("production's number can't be released by mistake", [
    "SmsNumber",
    '"protect":true',
    '"protect":false',
  ]),
  inChannels(told, [
    "function Deliver",
    'cdef","configurationSet":"owed-production"',
    'cdef","configurationSet":null',
  ]),
  inChannels(told, ["function Deliver", "phone-number/phone-", "pool/pool-"]),
  inChannels(told, ["function Feedback", '"FeedbackQueue":', '"Sms":{},"FeedbackQueue":']),
  inChannels(events, ["SmsRule", "aws.sms-voice", "aws.pinpoint"]),
  inChannels(events, ["SmsRule", "Text Message", "Voice Message"]),
  inChannels(events, ["SmsRule", '\\"configuration-set\\"', '\\"campaign\\"']),
  inChannels(events, [
    "SmsRule",
    ',\\"detail\\":{\\"context\\":{\\"configuration-set\\":[\\"owed-production\\"]}}',
    "",
  ]),
  inChannels("each rule brings the events it is for to a queue that lets it in", [
    "FeedbackQueuePolicy",
    "rule/owed-production-sms",
    "rule/owed-staging-sms",
  ]),
  inChannels(answers, ["SmsReplySubscription", '"rawMessageDelivery":true', '"rawMessageDelivery":false']),
  inChannels(answers, ["SmsReplySubscription", "FeedbackQueueQueue", "EventQueueQueue"]),
  inChannels(answers, ["SmsNumber", '"twoWayChannelEnabled":true', '"twoWayChannelEnabled":false']),
  inChannels(answers, ["SmsNumber", "owed-production-sms-replies", "owed-production-alarm"]),
  inChannels(topic, ["SmsReplyTopic", "ArnLike", "ArnNotLike"]),
  inChannels(topic, ["SmsReplyTopic", "aws:SourceAccount", "aws:SourceOwner"]),
  inChannels(topic, ["SmsReplyTopic", "sms-voice.amazonaws.com", "sns.amazonaws.com"]),
  inChannels(topic, ["SmsReplyTopic", "sns:Publish", "sns:*"]),
  inChannels("answers are encrypted on their way with a key of their own", [
    "SmsReplyTopic",
    "SmsReplyKey-id",
    "alias/aws/sns",
  ]),
  inChannels(key, ["SmsReplyKey", "sms-voice.amazonaws.com", "cloudwatch.amazonaws.com"]),
  inChannels(policy, ["FeedbackQueuePolicy", "sns.amazonaws.com", "events.amazonaws.com"]),
  inChannels(policy, ["FeedbackQueuePolicy", "owed-production-sms-replies", "owed-production-alarm"]),
  inChannels("a queue lets in EventBridge by its own rules, SNS by its own topic, and nobody else", [
    "FeedbackQueuePolicy",
    "owed-production-sms-replies",
    "*",
  ]),
  inChannels("no resource is a wildcard", ["DeliverRole", "configuration-set/owed-production", "*"]),
  inChannels("each function may do exactly what it does", [
    "DeliverRole",
    "sms-voice:SendTextMessage",
    "sms-voice:SendVoiceMessage",
  ]),
  inChannels("each function may do exactly what it does", ["DeliverRole", "phone-0123", "phone-9999"]),
  inChannels(way, ["VpcWebhooksSecurityGroup", '"toPort":65535', '"toPort":8443']),
  inChannels(way, ["VpcWebhooksSecurityGroup", '"fromPort":1024', '"fromPort":1']),
  inChannels(way, ["SweepFunction", "VpcFunctionsSecurityGroup-id", "VpcWebhooksSecurityGroup-id"]),
  inChannels(webhooksKey, [
    "function Sweep",
    '"Settings":',
    '"WebhookKey":{"value":"secret-of-WebhookKey"},"Settings":',
  ]),
  inChannels(webhooksKey, ["function Deliver", "secret-of-WebhookKey", "whsec_AAAA"]),
  inChannels("no password is in a function's environment", [
    "DeliverFunction",
    '"MIGRATED":"',
    '"MIGRATED":"secret-of-WebhookKey ',
  ]),
  inChannels("webhooks call public networks alone", [
    "function Deliver",
    '"WebhookKey":',
    '"WebhookNetwork":{"allow":["10.0.0.0/8"]},"WebhookKey":',
  ]),
  inChannels("the dashboard shows every alarm", [
    "Dashboard",
    "alarm:owed-production-SmsSpend",
    "alarm:owed-production-Spend",
  ]),
  inChannels("an alarm judges an age or a depth by its worst, and a count by its sum", [
    "SmsSpendAlarm",
    '"Maximum"',
    '"Sum"',
  ]),
];
