import { account, partition, policyOf, prefix, settings } from "./stage.ts";

/**
 * Where the alarms go. CloudWatch may not use the key that SNS has by itself, so an encrypted topic takes a key of our
 * own ($1 a month): with `alias/aws/sns` every alarm would be dropped without a word.
 */
const key = new aws.kms.Key("AlarmKey", {
  description: `${prefix}: alarms on their way`,
  enableKeyRotation: true,
  policy: policyOf([
    {
      sid: "AccountDecides",
      principals: [{ type: "AWS", identifiers: [$interpolate`arn:${partition}:iam::${account}:root`] }],
      actions: ["kms:*"],
      resources: ["*"],
    },
    {
      sid: "AlarmsPublish",
      principals: [{ type: "Service", identifiers: ["cloudwatch.amazonaws.com"] }],
      actions: ["kms:Decrypt", "kms:GenerateDataKey*"],
      resources: ["*"],
      conditions: [{ test: "StringEquals", variable: "aws:SourceAccount", values: [account] }],
    },
  ]),
});

export const topic = new aws.sns.Topic("AlarmTopic", { name: `${prefix}-alarm`, kmsMasterKeyId: key.id });

for (const [place, endpoint] of settings.alarm.emails.entries())
  new aws.sns.TopicSubscription(`AlarmEmail${place + 1}`, { topic: topic.arn, protocol: "email", endpoint });
