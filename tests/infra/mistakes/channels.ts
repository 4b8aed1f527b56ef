import { everyChannel } from "../variants.ts";
import type { Mistake } from "./mistake.ts";

const pool = { existing: "pool/pool-0123456789abcdef0123456789abcdef" };

/** Texts, webhooks, and the queue that is published into beside them. */
export const channelMistakes: Mistake[] = [
  {
    name: "texts of a stage that asked for none",
    edits: [
      [
        "sms.ts",
        "settings.sms && create(settings.sms)",
        "create(settings.sms ?? { existing: null, number: null })",
      ],
      [
        "sms.ts",
        "create({ existing, number }: SmsSettings)",
        'create({ existing, number }: Pick<SmsSettings, "existing" | "number">)',
      ],
    ],
    rule: "a stage that sends no texts has nothing of them",
  },
  {
    name: "texts without a way to AWS",
    settings: { sms: pool },
    edits: [["endpoints.ts", "sms ? [endpoint", "!sms ? [endpoint"]],
    rule: "functions reach every service that they call",
  },
  {
    name: "an endpoint by the name of the service's hosts, which has none",
    settings: { sms: pool },
    edits: [["endpoints.ts", '"pinpoint-sms-voice-v2", 2', '"sms-voice", 2']],
    rule: "functions reach every service that they call",
  },
  {
    name: "an endpoint that lets out other texts",
    settings: { sms: pool },
    edits: [
      [
        "endpoints.ts",
        '"pinpoint-sms-voice-v2", 2, sms.maySend',
        '"pinpoint-sms-voice-v2", 2, { ...sms.maySend, resources: ["*"] }',
      ],
    ],
    rule: "an endpoint's policy lets out what is expected, and nothing else",
  },
  {
    name: "nobody is told of what texts cost",
    settings: everyChannel,
    edits: [["alarm.ts", 'createAlarm("SmsSpend", {', "void ({"]],
    rule: "there is an alarm about all that somebody must be told of",
  },
  {
    name: "a secret that nobody has set",
    settings: everyChannel,
    edits: [["webhook.ts", 'new sst.Secret("WebhookKey")', 'new sst.Secret("WebhookRootKey")']],
    synthesis: /Set a value for WebhookRootKey with `sst secret set/,
  },
  {
    name: "a shadow queue that the sweep does not know",
    settings: { shadowQueue: true },
    edits: [["sweep.ts", "shadowQueue ?? [], settingsLink", "settingsLink"]],
    rule: "the shadow queue is told to the sweep alone",
  },
  {
    name: "a shadow queue that the sweep may not publish into",
    settings: { shadowQueue: true },
    edits: [["sweep.ts", "resources: [shadowQueue.arn]", "resources: [notificationQueue.arn]"]],
    rule: "each function may do exactly what it does",
  },
];
