import { invokeConfigsOf, lambdaOf, permissionsOf, rolesOf, schedulesOf } from "../stack/views.ts";
import { linkedSettings } from "./linked-settings.ts";
import { linksNamed } from "./links.ts";
import { type Rule, unless } from "./rule.ts";

/** EventBridge Scheduler user guide, "Schedule types": one of a unit is singular, several are plural. */
const rate = /^rate\((1 (minute|hour|day)|([2-9]|[1-9]\d+) (minutes|hours|days))\)$/;
const cron = /^cron\(\S+( \S+){5}\)$/;

export const scheduleRules: Rule[] = [
  {
    name: "a schedule's expression is one that AWS knows",
    check: (stack) =>
      unless(
        schedulesOf(stack),
        ({ inputs }) => rate.test(inputs.scheduleExpression) || cron.test(inputs.scheduleExpression),
        ({ name, inputs }) => `${name} has ${inputs.scheduleExpression}`,
      ),
  },
  {
    name: "the sweep runs as often as its settings say, at no flexible time",
    check: (stack) => {
      const [schedule] = schedulesOf(stack);
      if (!schedule) return stack.dev ? [] : ["there is no schedule: nothing looks at what is owed"];
      const { scheduleExpression, flexibleTimeWindow } = schedule.inputs;
      const every = linkedSettings(stack, "Sweep").sweep.every / 60;
      const wanted = every === 1 ? "rate(1 minute)" : `rate(${every} minutes)`;
      return [
        ...(scheduleExpression === wanted
          ? []
          : [`${schedule.name} has ${scheduleExpression}, not ${wanted}`]),
        ...(flexibleTimeWindow.mode === "OFF" ? [] : [`${schedule.name} may be late by a flexible window`]),
      ];
    },
  },
  {
    name: "whoever publishes, and deliver, are linked to the settings, and nobody else",
    check: (stack) => {
      const found = linksNamed(stack, "Settings").map(({ id }) => id);
      return found.toSorted().join() === "Deliver,Ingest,Sweep"
        ? []
        : [`they are linked to ${found.join(", ") || "nobody"}`];
    },
  },
  {
    name: "a beat that failed is not repeated, and one that is late is dropped",
    check: (stack) => {
      const sweep = lambdaOf(stack, "Sweep");
      const config = invokeConfigsOf(stack).find(({ inputs }) => inputs.functionName === sweep?.inputs.name);
      const hops = [
        ...schedulesOf(stack).map(({ name, inputs }) => ({ name, ...inputs.target.retryPolicy })),
        ...(config ? [{ name: config.name, ...config.inputs }] : []),
      ];
      return [
        ...(config || !sweep
          ? []
          : ["the sweep has no event invoke config: a failed beat is run twice more"]),
        ...unless(
          hops,
          (hop) => hop.maximumRetryAttempts === 0 && hop.maximumEventAgeInSeconds <= 60,
          (hop) =>
            `${hop.name}: ${hop.maximumRetryAttempts} retries, for ${hop.maximumEventAgeInSeconds} s; none, and 60 s at most`,
        ),
      ];
    },
  },
  {
    name: "the schedule is on where it is wanted, and nowhere else",
    check: (stack) =>
      unless(
        schedulesOf(stack),
        ({ inputs }) =>
          (inputs.state === "ENABLED") ===
          (!stack.settings.hold && (!stack.dev || stack.settings.scheduleInDev)),
        ({ name, inputs }) => `${name} is ${inputs.state}`,
      ),
  },
  {
    name: "the schedule may start the sweep, and nothing else",
    check: (stack) =>
      schedulesOf(stack).flatMap(({ name, inputs: { target } }) => {
        const sweep = lambdaOf(stack, "Sweep")?.arn;
        const role = rolesOf(stack).find(({ arn }) => arn === target.roleArn);
        if (!role) return [`${name} takes on ${target.roleArn}, which is no role of this stack`];
        const allowed = permissionsOf(role).map(({ Action, Resource }) => `${Action} on ${Resource}`);
        return [
          ...(target.arn === sweep ? [] : [`${name} starts ${target.arn}, not the sweep`]),
          ...unless(
            allowed,
            (one) => one === `lambda:InvokeFunction on ${sweep}`,
            (one) => `${role.name} allows ${one}`,
          ),
        ];
      }),
  },
];
