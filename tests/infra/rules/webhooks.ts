import * as v from "valibot";
import { secretMark } from "../synth/computed.ts";
import { linksNamed } from "./links.ts";
import { type Rule, unless } from "./rule.ts";

const key = v.strictObject({ value: v.literal(secretMark("WebhookKey")) });

export const webhookRules: Rule[] = [
  {
    name: "deliver alone has the webhooks' key, where the stage has webhooks",
    check: (stack) => {
      const found = linksNamed(stack, "WebhookKey");
      const wanted = stack.settings.webhooks ? ["Deliver"] : [];
      return [
        ...(found.map(({ id }) => id).join() === wanted.join()
          ? []
          : [`it is linked to ${found.map(({ id }) => id).join(", ") || "nobody"}`]),
        ...unless(
          found,
          ({ link }) => v.is(key, link),
          ({ id }) => `${id} has something else than the secret's value`,
        ),
      ];
    },
  },
  {
    name: "webhooks call public networks alone",
    check: (stack) => linksNamed(stack, "WebhookNetwork").map(({ id }) => `${id} may call others`),
  },
];
