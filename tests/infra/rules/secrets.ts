import type { Stack } from "../stack/stack.ts";
import { lambdasOf } from "../stack/views.ts";
import { secretMark } from "../synth/computed.ts";
import { type Rule, unless } from "./rule.ts";

/** The values of all secrets that this stack makes. */
const secretsOf = (stack: Stack): string[] =>
  [
    ...stack.all("random:index/randomPassword:RandomPassword"),
    ...stack.all("tls:index/privateKey:PrivateKey"),
    ...stack.all("sst:sst:Secret"),
  ].map(({ name }) => secretMark(name));

/** Where the database's own password must be. */
const keepers = new Set([
  "aws:rds/instance:Instance",
  "aws:secretsmanager/secretVersion:SecretVersion",
  "aws:ssm/parameter:Parameter",
]);

const holds = (stack: Stack, value: unknown): boolean => {
  const text = JSON.stringify(value) ?? "";
  return secretsOf(stack).some((secret) => text.includes(secret));
};

/** SST encrypts what is linked with this, and puts it beside: nothing that is linked may need it. */
const known = new Set(["SST_KEY", "SST_KEY_FILE"]);

export const secretRules: Rule[] = [
  {
    name: "no password is in a function's environment",
    check: (stack) =>
      lambdasOf(stack).flatMap(({ name, inputs }) =>
        Object.entries(inputs.environment.variables)
          .filter(
            ([variable, value]) =>
              !known.has(variable) && (holds(stack, value) || looksSecret(variable, value)),
          )
          .map(([variable]) => `${name} has one in ${variable}`),
      ),
  },
  {
    name: "no password is linked to a function",
    check: (stack) =>
      stack.functions
        .filter(() => !stack.dev)
        .flatMap(({ id, links }) =>
          Object.entries(links)
            // Deliver derives signing secrets from it at once, and for each merchant: webhooks.ts.
            .filter(([link]) => link !== "WebhookKey")
            .filter(
              ([, value]) => holds(stack, value) || fieldsOf(value).some((field) => looksSecret(field, "")),
            )
            .map(([link]) => `${id} has one in ${link}`),
        ),
  },
  {
    name: "no password is anywhere but where it is kept",
    check: (stack) =>
      unless(
        stack.resources.filter(({ type, custom }) => custom && !keepers.has(type)),
        ({ inputs }) => !holds(stack, inputs),
        ({ name }) => `${name} has one`,
      ),
  },
  {
    name: "no password is shown after a deployment",
    check: (stack) => (holds(stack, stack.outputs) ? ["the outputs of run() have one"] : []),
  },
  {
    name: "only migrate is linked to the master's secret",
    check: (stack) =>
      unless(
        stack.functions,
        ({ handler, links }) => handler.includes("/migrate/") || !("MasterSecret" in links),
        ({ id }) => `${id} is`,
      ),
  },
];

const looksSecret = (name: string, value: string): boolean =>
  /password|passwd|secret|token|api_?key|private_?key/i.test(name) && !value.startsWith("arn:");

const fieldsOf = (value: unknown): string[] =>
  typeof value === "object" && value !== null ? Object.keys(value) : [];
