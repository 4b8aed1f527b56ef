import * as v from "valibot";
import type { Stack } from "../stack/stack.ts";
import { type Rule, unless } from "./rule.ts";

const destination = v.object({
  eventDestination: v.object({
    enabled: v.optional(v.boolean(), false),
    matchingEventTypes: v.array(v.string()),
    eventBridgeDestination: v.optional(v.object({ eventBusArn: v.string() })),
  }),
});

const destinationsOf = (stack: Stack) =>
  stack.parsed("aws:sesv2/configurationSetEventDestination:ConfigurationSetEventDestination", destination);

const configurationSet = v.object({
  deliveryOptions: v.optional(v.object({ tlsPolicy: v.optional(v.string()) })),
  reputationOptions: v.optional(v.object({ reputationMetricsEnabled: v.optional(v.boolean()) })),
});

/** The provider events that feedback takes as evidence: packages/functions/src/feedback/event.ts. */
const evidence = ["SEND", "DELIVERY", "BOUNCE", "COMPLAINT", "REJECT"];

export const emailRules: Rule[] = [
  {
    name: "SES sends its events to the default bus: it takes no other",
    check: (stack) =>
      unless(
        destinationsOf(stack),
        ({ inputs: { eventDestination } }) =>
          eventDestination.enabled &&
          /:event-bus\/default$/.test(eventDestination.eventBridgeDestination?.eventBusArn ?? ""),
        ({ name, inputs }) =>
          `${name} sends to ${inputs.eventDestination.eventBridgeDestination?.eventBusArn}`,
      ),
  },
  {
    name: "SES tells all that feedback takes as evidence",
    check: (stack) => {
      const told = destinationsOf(stack).flatMap(({ inputs }) => inputs.eventDestination.matchingEventTypes);
      return evidence.filter((type) => !told.includes(type)).map((type) => `SES tells nothing of a ${type}`);
    },
  },
  {
    name: "emails go out over TLS, and their reputation is measured",
    check: (stack) =>
      unless(
        stack.parsed("aws:sesv2/configurationSet:ConfigurationSet", configurationSet),
        ({ inputs }) =>
          inputs.deliveryOptions?.tlsPolicy === "REQUIRE" &&
          inputs.reputationOptions?.reputationMetricsEnabled === true,
        ({ name }) => `${name} sends without TLS, or measures no reputation`,
      ),
  },
];
