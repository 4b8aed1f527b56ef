import { endpointsOf } from "../stack/network.ts";
import type { Stack } from "../stack/stack.ts";
import { databasesOf, lambdasOf } from "../stack/views.ts";
import type { Rule } from "./rule.ts";

const runsOf = (stack: Stack) => stack.all("aws:lambda/invocation:Invocation");

const nameOf = (stack: Stack, urn: string): string => stack.find(urn)?.name ?? urn;

/** The functions that work on the ledger; a developer's database is migrated by another hand. */
const afterMigrate = (stack: Stack) =>
  stack.dev ? [] : lambdasOf(stack).filter((lambda) => stack.topOf(lambda).name !== "Migrate");

export const migrateRules: Rule[] = [
  {
    name: "a deployment migrates, and sst dev does not",
    check: (stack) => {
      const [wanted, found] = [stack.dev ? 0 : 1, runsOf(stack).length];
      return found === wanted ? [] : [`migrate is invoked ${found} times, not ${wanted}`];
    },
  },
  {
    name: "migrate runs again when a migration or its own code changes",
    check: (stack) =>
      runsOf(stack).flatMap(({ name, inputs }) => {
        const triggers = Object.values((inputs.triggers ?? {}) as Record<string, string>);
        return [
          ...(triggers.some((trigger) => /^[0-9a-f]{64}$/.test(trigger))
            ? []
            : [`${name} knows no hash of migrations/`]),
          ...(triggers.some((trigger) => trigger.includes("Migrate-code"))
            ? []
            : [`${name} does not see new code`]),
        ];
      }),
  },
  {
    name: "migrate runs when the database and the way to its secret stand",
    check: (stack) =>
      runsOf(stack).flatMap((run) => {
        const needs = stack.needs(run);
        return [...databasesOf(stack), ...endpointsOf(stack)]
          .filter(({ urn }) => !needs.has(urn))
          .map(({ name }) => `${run.name} does not wait for ${name}`);
      }),
  },
  {
    name: "functions that work on the ledger wait for migrate",
    check: (stack) =>
      afterMigrate(stack).flatMap((lambda) => {
        const needs = [...stack.needs(lambda)].map((urn) => nameOf(stack, urn));
        return needs.includes("MigrateRun") ? [] : [`${lambda.name} may run before its schema is there`];
      }),
  },
  {
    name: "functions are told of another schema, and so replaced after it",
    check: (stack) => {
      const versions = new Set(
        afterMigrate(stack).map(({ inputs }) => inputs.environment.variables.MIGRATED ?? ""),
      );
      return [...versions].every((version) => /[0-9a-f]{12}/.test(version)) && versions.size <= 1
        ? []
        : [`they are told of ${[...versions].join(" and ") || "none"}`];
    },
  },
];
