import { connectionsEach } from "@owed/functions/parse-settings";
import type { Stack } from "../stack/stack.ts";
import { databasesOf, eventSourcesOf, lambdasOf, parameterGroupsOf } from "../stack/views.ts";
import type { Rule } from "./rule.ts";

/** Executions at the same time, at most: what the event sources may start, one sweep, and migrate on a deployment. */
const executions = (stack: Stack): number =>
  eventSourcesOf(stack).reduce(
    (sum, { inputs }) => sum + (inputs.scalingConfig?.maximumConcurrency ?? 1000),
    0,
  ) + 2;

/** Executions that AWS wants left unreserved (AWS Lambda developer guide, "Reserved concurrency"). */
const leastUnreserved = 100;

export const sumRules: Rule[] = [
  {
    name: "all functions together fit into the account's concurrency",
    check: (stack) => {
      const { account } = stack.settings.concurrency;
      return executions(stack) <= account
        ? []
        : [`${executions(stack)} run at once, and the account allows ${account}`];
    },
  },
  {
    name: "what is reserved leaves enough to others",
    check: (stack) => {
      const reserved = lambdasOf(stack).reduce(
        (sum, { inputs }) => sum + (inputs.reservedConcurrentExecutions ?? 0),
        0,
      );
      const left = stack.settings.concurrency.account - reserved;
      return reserved === 0 || left >= leastUnreserved
        ? []
        : [`${reserved} are reserved, which leaves ${left}`];
    },
  },
  {
    name: "all connections together leave a fifth of max_connections",
    check: (stack) =>
      databasesOf(stack).flatMap(({ inputs: { parameterGroupName } }) => {
        const group = parameterGroupsOf(stack).find(({ inputs }) => inputs.name === parameterGroupName);
        const given = group?.inputs.parameters.find(({ name }) => name === "max_connections");
        if (!given) return ["max_connections is not given: it would change with the instance"];
        // The containers that a deployment replaces keep theirs for a while.
        const held = 2 * connectionsEach * executions(stack);
        return held < 0.8 * Number(given.value)
          ? []
          : [`the functions hold up to ${held} connections while they are replaced, of ${given.value}`];
      }),
  },
  {
    name: "max_connections fits into the instance's memory",
    check: (stack) =>
      databasesOf(stack).flatMap(({ inputs: { instanceClass, parameterGroupName } }) => {
        const group = parameterGroupsOf(stack).find(({ inputs }) => inputs.name === parameterGroupName);
        const most = Number(group?.inputs.parameters.find(({ name }) => name === "max_connections")?.value);
        const gigabytes = memory[instanceClass];
        // RDS's own default: a connection for each 9.5 MB.
        const fits = gigabytes === undefined || most <= (gigabytes * 2 ** 30) / 9_531_392;
        return fits ? [] : [`${instanceClass} has ${gigabytes} GB, too little for ${most} connections`];
      }),
  },
];

/** GB of the smaller instance classes (Amazon RDS user guide, "DB instance classes"). */
const memory: Record<string, number> = {
  "db.t4g.micro": 1,
  "db.t4g.small": 2,
  "db.t4g.medium": 4,
  "db.t4g.large": 8,
};
