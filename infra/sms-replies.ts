import { feedbackQueue } from "./feedback-queue.ts";
import { account, arnOf, partition, policyOf, prefix, settings } from "./stage.ts";

/**
 * What recipients answer: number → topic → feedback queue. AWS itself answers a STOP and sends that number no more;
 * the ledger hears of it here, and tells why nothing was sent.
 */
export const replies = settings.sms?.twoWay ? create() : null;

function create() {
  const byService = [{ type: "Service", identifiers: ["sms-voice.amazonaws.com"] }];
  // Not the number's own ARN: it is only made when the topic lets it in.
  const ofThisAccount = [
    { test: "StringEquals", variable: "aws:SourceAccount", values: [account] },
    { test: "ArnLike", variable: "aws:SourceArn", values: [arnOf("sms-voice", "*")] },
  ];

  // A person's words and number: SNS keeps nothing encrypted without a key, and its own lets no other service publish.
  const key = new aws.kms.Key("SmsReplyKey", {
    description: `${prefix}: answers to texts on their way`,
    enableKeyRotation: true,
    policy: policyOf([
      {
        sid: "AccountDecides",
        principals: [{ type: "AWS", identifiers: [$interpolate`arn:${partition}:iam::${account}:root`] }],
        actions: ["kms:*"],
        resources: ["*"],
      },
      {
        sid: "AnswersPublish",
        principals: byService,
        actions: ["kms:Decrypt", "kms:GenerateDataKey*"],
        resources: ["*"],
        conditions: ofThisAccount,
      },
    ]),
  });

  const name = `${prefix}-sms-replies`;
  const topic = new aws.sns.Topic("SmsReplyTopic", {
    name,
    kmsMasterKeyId: key.id,
    policy: policyOf([
      {
        principals: byService,
        actions: ["sns:Publish"],
        resources: [arnOf("sns", name)],
        conditions: ofThisAccount,
      },
    ]),
  });
  // Raw: the queue gets the answer as it is, and not as text inside of SNS's own JSON.
  new aws.sns.TopicSubscription("SmsReplySubscription", {
    topic: topic.arn,
    protocol: "sqs",
    endpoint: feedbackQueue.arn,
    rawMessageDelivery: true,
  });
  return topic;
}
