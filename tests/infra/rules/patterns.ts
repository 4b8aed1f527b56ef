import * as v from "valibot";
import { eventOf } from "../../../packages/local/src/ses/event.ts";
import type { Chapter } from "../../../packages/local/src/ses/story.ts";
import { eventOf as smsEventOf, story } from "../../../packages/local/src/sms/event.ts";
import { shipmentEvent } from "../../bundles/events.ts";
import { matches, type Pattern } from "../stack/pattern.ts";
import type { Stack } from "../stack/stack.ts";
import { eventRulesOf } from "../stack/views.ts";
import { account } from "../synth/computed.ts";
import { type Rule, unless } from "./rule.ts";

const patternFrom = (json: string | undefined): Pattern => JSON.parse(json ?? "{}");

/** How many rules of the stage take an event on this bus. */
const takenBy = (stack: Stack, isOwnBus: boolean, event: unknown): number =>
  eventRulesOf(stack).filter(
    ({ inputs }) =>
      (inputs.eventBusName !== "default") === isOwnBus && matches(patternFrom(inputs.eventPattern), event),
  ).length;

const chapters: Chapter[] = [
  { eventType: "Send", send: {} },
  { eventType: "Delivery", delivery: {} },
  { eventType: "Bounce", bounce: {} },
  { eventType: "Complaint", complaint: {} },
  { eventType: "Reject", reject: { reason: "Bad content" } },
];

/** All that SES tells, on the default bus, of an email that was sent with this configuration set. */
function toldBySes(stack: Stack, configurationSet: string) {
  const { region } = stack.app;
  const email = {
    action: "SendEmail",
    source: "notify@mail.shop-seven.com",
    to: ["ana@example.org"],
    cc: [],
    bcc: [],
    replyTo: [],
    subject: "Your parcel",
    text: "It is out for delivery.",
    html: undefined,
    tags: {},
    configurationSet,
    messageId: "0100",
    at: 0,
  } as const;
  return chapters.map((chapter) => eventOf(email, chapter, { account, region, configurationSet }));
}

const configurationSetOf = (stack: Stack): string => {
  const deliver = stack.functions.find(({ id }) => id === "Deliver");
  return v.parse(v.object({ configurationSet: v.string() }), deliver?.links.Email).configurationSet;
};

const oneText = { notification: "018f0000-0000-7000-8000-000000000001" };

/** Of a stage that sends no texts it is any. */
const smsConfigurationSetOf = (stack: Stack): string => {
  const link = stack.functions.find(({ id }) => id === "Deliver")?.links.Sms;
  return link ? v.parse(v.object({ configurationSet: v.string() }), link).configurationSet : "none";
};

/** All that End User Messaging tells, on the default bus, of a text that was sent with this context. */
function toldOfTexts(stack: Stack, context: Record<string, string>) {
  const text = {
    to: "+447700900123",
    from: "+447700900999",
    text: "It is out for delivery.",
    type: "TRANSACTIONAL",
    context,
    configurationSet: undefined,
    timeToLive: 60,
    messageId: "0100",
    encoding: "GSM",
    segments: 1,
    at: 0,
  } as const;
  const whole = [...story({ kind: "arrive" }), ...story({ kind: "fail", type: "TEXT_BLOCKED" })];
  return whole.map((chapter) => smsEventOf(text, chapter, { account, region: stack.app.region }));
}

const archive = v.object({
  eventSourceArn: v.string(),
  eventPattern: v.optional(v.string()),
  /** 0: for ever. */
  retentionDays: v.optional(v.number(), 0),
});

const sorted = (pattern: Pattern): string =>
  JSON.stringify(pattern, (_field, value) =>
    typeof value === "object" && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted())
      : value,
  );

/** Patterns held against events as they are published. */
export const patternRules: Rule[] = [
  {
    name: "what SES tells of this stage's emails is taken once, and of no other's",
    check: (stack) => {
      const own = configurationSetOf(stack);
      return [
        ...unless(
          toldBySes(stack, own),
          (event) => takenBy(stack, false, event) === 1,
          (event) => `${takenBy(stack, false, event)} rules take SES's ${event["detail-type"]} of ${own}`,
        ),
        ...unless(
          toldBySes(stack, `${own}-2`),
          (event) => takenBy(stack, false, event) === 0,
          (event) => `a rule takes SES's ${event["detail-type"]} of another configuration set`,
        ),
      ];
    },
  },
  {
    name: "what AWS tells of this stage's texts is taken once where there are any, and of no other's",
    check: (stack) => {
      const wanted = stack.settings.sms ? 1 : 0;
      return [
        ...unless(
          toldOfTexts(stack, { ...oneText, "configuration-set": smsConfigurationSetOf(stack) }),
          (event) => takenBy(stack, false, event) === wanted,
          (event) => `${takenBy(stack, false, event)} rules take a text's ${event.detail.eventType}`,
        ),
        ...unless(
          [
            ...toldOfTexts(stack, { ...oneText, "configuration-set": `${smsConfigurationSetOf(stack)}-2` }),
            ...toldOfTexts(stack, oneText),
          ],
          (event) => takenBy(stack, false, event) === 0,
          (event) => `a rule takes the ${event.detail.eventType} of somebody else's text`,
        ),
      ];
    },
  },
  {
    name: "a shipment event is taken once, as the platform puts it on the bus",
    check: (stack) => {
      const found = takenBy(stack, true, shipmentEvent("S-1"));
      return found === 1 ? [] : [`${found} rules take it`];
    },
  },
  {
    name: "the archive keeps what the bus's rule takes, for as long as a backup is kept",
    check: (stack) => {
      const archives = stack.parsed("aws:cloudwatch/eventArchive:EventArchive", archive);
      return eventRulesOf(stack)
        .filter(({ inputs }) => inputs.eventBusName !== "default")
        .flatMap(({ name, inputs }) => {
          const kept = archives.find(({ inputs: { eventSourceArn } }) =>
            eventSourceArn.endsWith(`:event-bus/${inputs.eventBusName}`),
          );
          if (!kept) return [`nothing keeps what ${name} takes`];
          const { eventPattern, retentionDays } = kept.inputs;
          const { backupDays } = stack.settings.database;
          return [
            ...(sorted(patternFrom(eventPattern)) === sorted(patternFrom(inputs.eventPattern))
              ? []
              : [`${kept.name} keeps ${eventPattern}, and ${name} takes ${inputs.eventPattern}`]),
            ...(retentionDays === 0 || retentionDays >= backupDays
              ? []
              : [`${kept.name} keeps ${retentionDays} days, and backups are kept for ${backupDays}`]),
          ];
        });
    },
  },
];
