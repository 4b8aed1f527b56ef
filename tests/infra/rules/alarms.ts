import { metricsOf, shownAlarmsOf } from "../stack/metrics.ts";
import { statementsOf } from "../stack/policy.ts";
import type { Stack } from "../stack/stack.ts";
import { type Alarm, alarmsOf } from "../stack/views.ts";
import { type Rule, unless } from "./rule.ts";

/** What somebody must be told of: the metric that shows it, and whose. */
const always: { about: string; shows: (stack: Stack, alarm: Alarm) => boolean }[] = [
  { about: "a sweep that is missing", shows: looksAt("sweeps", "sweep") },
  { about: "the oldest that is owed", shows: looksAt("oldestOwedAge", "sweep") },
  ...["Event", "Notification", "Feedback"].map((name) => ({
    about: `dead letters in ${name}Dlq`,
    shows: looksAt("ApproximateNumberOfMessagesVisible", `${name}Dlq`),
  })),
  { about: "sends that are refused", shows: looksAt("refused", "deliver") },
  { about: "sends that fail", shows: looksAt("transient", "deliver") },
  { about: "unknown outcomes of deliver", shows: looksAt("unknown", "deliver") },
  { about: "unknown outcomes of vanished workers", shows: looksAt("unknown", "sweep") },
  { about: "bounces", shows: looksAt("Reputation.BounceRate", "") },
  { about: "complaints", shows: looksAt("Reputation.ComplaintRate", "") },
  { about: "the database's connections", shows: looksAt("DatabaseConnections", "") },
  { about: "the database's storage", shows: looksAt("FreeStorageSpace", "") },
  ...["ingest", "sweep", "deliver", "feedback"].map((name) => ({
    about: `${name}'s errors`,
    shows: looksAt("Errors", `-${name}`),
  })),
];

const wantedIn = ({ dev, settings: { sms } }: Stack): typeof always =>
  dev
    ? []
    : [
        ...always,
        ...(sms ? [{ about: "what texts cost", shows: looksAt("TextMessageMonthlySpend", null) }] : []),
        ...(sms
          ? [{ about: "events of texts that are lost", shows: looksAt("FailedInvocations", "-sms") }]
          : []),
        ...(sms?.twoWay
          ? [
              {
                about: "answers that are lost",
                shows: looksAt("NumberOfNotificationsFailed", "-sms-replies"),
              },
            ]
          : []),
      ];

/** Does an alarm look at the metric of one whose dimension has this in its value? Null: of one without any. */
function looksAt(metric: string, of: string | null): (stack: Stack, alarm: Alarm) => boolean {
  return (_stack, alarm) =>
    metricsOf(alarm).some(
      ({ name, dimensions }) =>
        name === metric &&
        (of === null
          ? Object.keys(dimensions).length === 0
          : Object.values(dimensions).some((value) => value.includes(of))),
    );
}

const heartbeats = (stack: Stack) =>
  alarmsOf(stack).filter((alarm) => looksAt("sweeps", "sweep")(stack, alarm));

/** CloudWatch user guide, "Using alarms"; API, PutMetricAlarm. */
export const alarmRules: Rule[] = [
  {
    name: "there is an alarm about all that somebody must be told of",
    check: (stack) =>
      unless(
        wantedIn(stack),
        ({ shows }) => alarmsOf(stack).some((alarm) => shows(stack, alarm)),
        ({ about }) => `nobody is told of ${about}`,
      ),
  },
  {
    name: "a missing heartbeat is the alarm itself, after three minutes",
    check: (stack) =>
      heartbeats(stack).flatMap((alarm) => {
        const { treatMissingData, comparisonOperator, threshold, evaluationPeriods } = alarm.inputs;
        const [period = 0] = metricsOf(alarm).map((metric) => metric.period ?? 0);
        const seconds = period * evaluationPeriods;
        return [
          ...(treatMissingData === "breaching"
            ? []
            : [`${alarm.name} takes missing data as ${treatMissingData}`]),
          ...(comparisonOperator === "LessThanThreshold" && threshold === 1
            ? []
            : [`${alarm.name} is not about fewer than one sweep`]),
          ...(seconds === 3 * stack.settings.functions.sweep.every
            ? []
            : [`${alarm.name} waits for ${seconds} s, not for three beats`]),
        ];
      }),
  },
  {
    name: "an alarm looks as CloudWatch can",
    check: (stack) =>
      alarmsOf(stack).flatMap((alarm) => {
        const { evaluationPeriods, datapointsToAlarm = evaluationPeriods } = alarm.inputs;
        const periods = metricsOf(alarm).map(({ period }) => period ?? 0);
        return [
          ...unless(
            periods,
            (period) => period === 10 || period === 20 || period === 30 || (period > 0 && period % 60 === 0),
            (period) => `${alarm.name} has a period of ${period} s: 10, 20, 30, or whole minutes`,
          ),
          // A day, or a week from a period of an hour on.
          ...unless(
            periods,
            (period) => period * evaluationPeriods <= (period >= 3600 ? 604_800 : 86_400),
            (period) => `${alarm.name} looks back ${period * evaluationPeriods} s`,
          ),
          ...(datapointsToAlarm >= 1 && datapointsToAlarm <= evaluationPeriods
            ? []
            : [`${alarm.name} wants ${datapointsToAlarm} of ${evaluationPeriods} periods`]),
          ...unless(
            metricsOf(alarm),
            ({ statistic }) => /^(SampleCount|Average|Sum|Minimum|Maximum|p\d{1,2}(\.\d+)?)$/.test(statistic),
            ({ statistic, name }) => `${alarm.name} has the statistic ${statistic || "(none)"} of ${name}`,
          ),
          ...(known.includes(alarm.inputs.treatMissingData)
            ? []
            : [`${alarm.name} treats missing data as ${alarm.inputs.treatMissingData}`]),
          ...queriesOf(alarm),
        ];
      }),
  },
  {
    name: "an alarm reaches somebody",
    check: (stack) =>
      unless(
        alarmsOf(stack),
        ({ inputs }) =>
          inputs.alarmActions.length > 0 &&
          inputs.alarmActions.every((arn) => stack.byArn(arn)?.type === "aws:sns/topic:Topic"),
        ({ name }) => `${name} tells nobody`,
      ),
  },
  {
    name: "CloudWatch may use the key of the alarms' topic",
    check: (stack) =>
      stack.all("aws:sns/topic:Topic").flatMap(({ name, arn, inputs: { kmsMasterKeyId } }) => {
        const isAlarms = alarmsOf(stack).some(({ inputs }) => inputs.alarmActions.includes(arn ?? ""));
        if (!isAlarms || kmsMasterKeyId === undefined) return [];
        const key = stack.all("aws:kms/key:Key").find(({ name: key }) => `${key}-id` === kmsMasterKeyId);
        const lets =
          key &&
          statementsOf(key.inputs.policy).some(
            ({ Principal, Action }) =>
              JSON.stringify(Principal).includes("cloudwatch.amazonaws.com") &&
              Action.includes("kms:Decrypt") &&
              Action.some((action) => action.startsWith("kms:GenerateDataKey")),
          );
        return lets
          ? []
          : [`${name} is encrypted with ${kmsMasterKeyId}, which CloudWatch may not use: no alarm arrives`];
      }),
  },
  {
    name: "the dashboard shows every alarm",
    check: (stack) =>
      unless(
        alarmsOf(stack),
        ({ arn }) => shownAlarmsOf(stack).includes(arn ?? ""),
        ({ name }) => `${name} is not on it`,
      ),
  },
];

const known = ["breaching", "notBreaching", "ignore", "missing"];

/** One query is what the alarm is about, and an expression names the others. */
function queriesOf({ name, inputs: { metricQueries } }: Alarm): string[] {
  if (metricQueries.length === 0) return [];
  const ids = metricQueries.map(({ id }) => id);
  const used = metricQueries.flatMap(({ expression = "" }) => expression.match(/\b[a-z]\w*\b/g) ?? []);
  return [
    ...(metricQueries.filter(({ returnData }) => returnData).length === 1
      ? []
      : [`${name} is about no one query`]),
    ...used
      .filter((id) => !ids.includes(id))
      .map((id) => `${name} calculates with ${id}, which is no query of it`),
  ];
}
