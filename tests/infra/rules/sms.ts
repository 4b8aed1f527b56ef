import { isDeepStrictEqual } from "node:util";
import * as v from "valibot";
import { statementsOf } from "../stack/policy.ts";
import type { Stack } from "../stack/stack.ts";
import { queuesOf } from "../stack/views.ts";
import { account } from "../synth/computed.ts";
import { linksNamed } from "./links.ts";
import { type Rule, unless } from "./rule.ts";

const number = v.object({
  isoCountryCode: v.string(),
  numberType: v.string(),
  registrationId: v.optional(v.string()),
  messageType: v.string(),
  numberCapabilities: v.array(v.string()),
  optOutListName: v.optional(v.string(), "Default"),
  selfManagedOptOutsEnabled: v.optional(v.boolean(), false),
  deletionProtectionEnabled: v.optional(v.boolean(), false),
  twoWayChannelEnabled: v.optional(v.boolean(), false),
  twoWayChannelArn: v.optional(v.string()),
});

const numbersOf = (stack: Stack) =>
  stack.parsed("aws:pinpoint/smsvoicev2PhoneNumber:Smsvoicev2PhoneNumber", number);
const setsOf = (stack: Stack) =>
  stack.all("aws:pinpoint/smsvoicev2ConfigurationSet:Smsvoicev2ConfigurationSet");
const listsOf = (stack: Stack) => stack.all("aws:pinpoint/smsvoicev2OptOutList:Smsvoicev2OptOutList");

/** The origination identity that the settings ask for, by its ARN. */
export function senderOf(stack: Stack): string {
  const existing = stack.settings.sms?.existing;
  if (existing) return `arn:aws:sms-voice:${stack.app.region}:${account}:${existing}`;
  return numbersOf(stack)[0]?.arn ?? "";
}

/** The topic that answers come by, made where they are asked for. */
const topicsOf = (stack: Stack) =>
  stack
    .all("aws:sns/topic:Topic")
    .filter(({ name }) => stack.settings.sms?.twoWay && name === "SmsReplyTopic");

const subscription = v.object({
  topic: v.string(),
  protocol: v.string(),
  endpoint: v.string(),
  rawMessageDelivery: v.optional(v.boolean(), false),
});

/** Subscriptions of queues, each with its topic's ARN. */
export const subscriptionsOf = (stack: Stack) =>
  stack
    .parsed("aws:sns/topicSubscription:TopicSubscription", subscription)
    .filter(({ inputs }) => inputs.protocol === "sqs");

/** Every resource of texts: none where the stage sends none. */
const ofTexts = (stack: Stack) =>
  stack.resources.filter(({ type, name }) => type.startsWith("aws:pinpoint/") || /^(Vpc)?Sms/.test(name));

export const smsRules: Rule[] = [
  {
    name: "a stage that sends no texts has nothing of them",
    check: (stack) =>
      stack.settings.sms ? [] : ofTexts(stack).map(({ name, type }) => `${name} (${type}) is there`),
  },
  {
    name: "deliver alone is told who texts come from, where the settings ask for them",
    check: (stack) => {
      const [set] = setsOf(stack);
      const link = { originationIdentity: senderOf(stack), configurationSet: set?.inputs.name };
      const wanted = stack.settings.sms ? [{ id: "Deliver", link }] : [];
      const found = linksNamed(stack, "Sms");
      return isDeepStrictEqual(found, wanted) ? [] : [`the link is ${JSON.stringify(found)}`];
    },
  },
  {
    name: "the number is the one that was asked for, and its recipients stop by AWS's own list for it",
    check: (stack) => {
      const asked = stack.settings.sms?.number;
      const lists = listsOf(stack).map(({ inputs }) => inputs.name);
      const found = numbersOf(stack);
      if (!asked) return found.map(({ name }) => `${name} is there, and nobody asked for it`);
      if (found.length !== 1) return [`there are ${found.length} numbers`];
      const like = {
        isoCountryCode: asked.country,
        numberType: asked.kind,
        registrationId: asked.registration ?? undefined,
        messageType: "TRANSACTIONAL",
        numberCapabilities: ["SMS"],
        selfManagedOptOutsEnabled: false,
      };
      return unless(
        found,
        ({ inputs }) =>
          lists.includes(inputs.optOutListName) &&
          Object.entries(like).every(([field, value]) =>
            isDeepStrictEqual(Reflect.get(inputs, field), value),
          ),
        ({ name, inputs }) => `${name} is ${JSON.stringify(inputs)}`,
      );
    },
  },
  {
    name: "production's number can't be released by mistake",
    check: (stack) =>
      unless(
        stack.production ? numbersOf(stack) : [],
        ({ inputs, protect }) => inputs.deletionProtectionEnabled && protect,
        ({ name }) => `${name} can be`,
      ),
  },
  {
    name: "answers go by their own topic, raw, to the feedback queue",
    check: (stack) => {
      const topics = topicsOf(stack).map(({ arn }) => arn ?? "");
      const queue = queuesOf(stack).find((one) => stack.topOf(one).name === "FeedbackQueue");
      const numbers = stack.settings.sms?.twoWay ? numbersOf(stack) : [];
      const subscriptions = subscriptionsOf(stack);
      return [
        ...(topics.length === (stack.settings.sms?.twoWay ? 1 : 0) && subscriptions.length === topics.length
          ? []
          : [`there are ${topics.length} topics for answers, and ${subscriptions.length} subscriptions`]),
        ...unless(
          numbers,
          ({ inputs }) => inputs.twoWayChannelEnabled && topics.includes(inputs.twoWayChannelArn ?? ""),
          ({ name, inputs }) => `${name} gives answers to ${inputs.twoWayChannelArn ?? "nobody"}`,
        ),
        ...unless(
          subscriptions,
          ({ inputs }) =>
            topics.includes(inputs.topic) && inputs.endpoint === queue?.arn && inputs.rawMessageDelivery,
          ({ name, inputs }) => `${name} brings ${JSON.stringify(inputs)}`,
        ),
      ];
    },
  },
  {
    // User guide of AWS End User Messaging SMS, "Topic policies for Amazon SNS topics".
    name: "the answers' topic lets in End User Messaging of this account, and nobody else",
    check: (stack) =>
      unless(
        topicsOf(stack),
        ({ arn, inputs }) =>
          isDeepStrictEqual(statementsOf(inputs.policy), [
            {
              Effect: "Allow",
              Principal: { Service: ["sms-voice.amazonaws.com"] },
              Action: ["sns:Publish"],
              NotAction: [],
              Resource: [arn],
              NotResource: [],
              Condition: ofThisAccount(stack),
            },
          ]),
        ({ name, inputs }) => `${name} has ${String(inputs.policy)}`,
      ),
  },
  {
    name: "answers are encrypted on their way with a key of their own",
    check: (stack) =>
      unless(
        topicsOf(stack),
        ({ inputs }) => inputs.kmsMasterKeyId === "SmsReplyKey-id",
        ({ name, inputs }) => `${name} is encrypted with ${String(inputs.kmsMasterKeyId ?? "nothing")}`,
      ),
  },
];

/** Conditions under which End User Messaging acts for this account. */
export const ofThisAccount = ({ app: { region } }: Stack) => ({
  StringEquals: { "aws:SourceAccount": [account] },
  ArnLike: { "aws:SourceArn": [`arn:aws:sms-voice:${region}:${account}:*`] },
});
