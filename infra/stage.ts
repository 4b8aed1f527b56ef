import { InvalidStage, settingsOf } from "./settings.ts";
import { givenOf, isProduction, isShared } from "./stages.ts";

/** The stage that is being deployed, and what everything of it is called. */

if ($dev && isShared($app.stage))
  throw new InvalidStage(
    `sst dev would take the database and the functions of the stage ${$app.stage} away; give a stage of your own with --stage`,
  );

export const settings = settingsOf($app.stage, givenOf($app.stage), process.env.OWED_SETTINGS);
export const production = isProduction($app.stage);

/** Begins the name of all that has one: `owed-production`. */
export const prefix = `${$app.name}-${$app.stage}`;

/**
 * The namespace of the functions' own metrics. The stage is a part of it: two stages in one account must not feed each
 * other's alarms.
 */
export const metricsNamespace = `Owed/${$app.stage}`;

export const account = aws.getCallerIdentityOutput().accountId;
export const region = aws.getRegionOutput().region;
export const partition = aws.getPartitionOutput().partition;

/** The name of something in this account and region, known before it is there. */
export const arnOf = (service: string, resource: $util.Input<string>): $util.Output<string> =>
  $interpolate`arn:${partition}:${service}:${region}:${account}:${resource}`;

/** A policy document. */
export const policyOf = (
  statements: aws.iam.GetPolicyDocumentOutputArgs["statements"],
): $util.Output<string> => aws.iam.getPolicyDocumentOutput({ statements }).json;

type Condition = { test: string; variable: string; values: $util.Input<string>[] };

/** Who takes on a role: one service of AWS. */
export const trustIn = (
  service: "lambda" | "scheduler",
  conditions: Condition[] = [],
): $util.Output<string> =>
  policyOf([
    {
      principals: [{ type: "Service", identifiers: [`${service}.amazonaws.com`] }],
      actions: ["sts:AssumeRole"],
      conditions,
    },
  ]);
