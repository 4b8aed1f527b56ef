import { addressOf, domainOf } from "./sender.ts";
import { arnOf, prefix, settings } from "./stage.ts";

/** What deliver sends by: who from, and what SES does with it and tells of it. */

export const configurationSet = new aws.sesv2.ConfigurationSet("EmailConfigurationSet", {
  configurationSetName: prefix,
  deliveryOptions: { tlsPolicy: "REQUIRE" },
  // Bounce and complaint rates of these emails alone, for the alarms.
  reputationOptions: { reputationMetricsEnabled: true },
  suppressionOptions: { suppressedReasons: ["BOUNCE", "COMPLAINT"] },
});

/** What becomes of each email. A rendering failure comes of SES's own templates, which are not used here. */
new aws.sesv2.ConfigurationSetEventDestination("EmailEvents", {
  configurationSetName: configurationSet.configurationSetName,
  eventDestinationName: "feedback",
  eventDestination: {
    enabled: true,
    matchingEventTypes: ["SEND", "DELIVERY", "DELIVERY_DELAY", "BOUNCE", "COMPLAINT", "REJECT"],
    eventBridgeDestination: { eventBusArn: arnOf("events", "event-bus/default") },
  },
});

const { from, identity, existing, sandbox } = settings.email;

/** What SES has verified, or will: a domain, or an address. */
export const identityName = existing ?? (identity === "address" ? addressOf(from) : domainOf(from));

/** What the functions are told of it. */
export const email = new sst.Linkable("Email", {
  properties: { sender: from, configurationSet: configurationSet.configurationSetName },
});

/** To send from the one address, by this configuration set. In the sandbox IAM is asked for each recipient's identity too. */
export const maySend = {
  actions: ["ses:SendEmail"],
  resources: [arnOf("ses", `identity/${sandbox ? "*" : identityName}`), configurationSet.arn],
  conditions: [{ test: "StringEquals", variable: "ses:FromAddress", values: [addressOf(from)] }],
};
