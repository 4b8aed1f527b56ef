/**
 * How the functions are bundled. Plain data: SST's `Function` takes it on deployment, and `npm run build` makes the
 * same artefacts on a machine without AWS.
 */

/** The functions, in the order in which a deployment and then the data reach them. */
export const stages = ["migrate", "ingest", "sweep", "deliver", "feedback"] as const;
export type Stage = (typeof stages)[number];

/** A function's handler, from the project's folder. */
export const handlerOf = (stage: Stage): string => `packages/functions/src/${stage}/handler.handler`;

/**
 * The links of the SDK's credential chain after the environment's variables. Lambda gives credentials in these, the
 * first link, so the others and the four AWS clients behind them are never loaded: 100 kB of each function. They are
 * imported at run time alone, where one is asked for.
 */
const unusedCredentials = [
  "@aws-sdk/credential-provider-http",
  "@aws-sdk/credential-provider-ini",
  "@aws-sdk/credential-provider-process",
  "@aws-sdk/credential-provider-sso",
  "@aws-sdk/credential-provider-web-identity",
  "@smithy/credential-provider-imds",
];

/** SST's `nodejs` option, of every function. */
export const nodejs = {
  format: "esm" as const,
  minify: true,
  esbuild: { external: unusedCredentials },
};

export type Copied = { from: string; to: string };

/** SST's `copyFiles` option: what lies beside a function's bundle. */
export function copyFiles(stage: Stage): Copied[] {
  const certificates = { from: "infra/rds-ca.pem", to: "rds-ca.pem" };
  const migrations = { from: "migrations", to: "migrations" };
  return stage === "migrate" ? [certificates, migrations] : [certificates];
}

/** Bytes of a function's code at most: a cold start reads all of it. */
export const mostBytes = 1_500_000;

/**
 * The AWS clients that each function calls, and so has in its bundle. The sweep fills SQS by what SES allows; deliver
 * sends by SES and End User Messaging, and sets the visibility of what it could not send.
 */
export const clients: Record<Stage, readonly string[]> = {
  migrate: ["secrets-manager"],
  ingest: ["sqs"],
  sweep: ["ses", "sqs"],
  deliver: ["pinpoint-sms-voice-v2", "ses", "sqs"],
  feedback: ["sqs"],
};

/** Packages that one function alone needs: in another, a whole index was taken in for one export of it. */
export const ofOneFunction: Record<string, Stage> = {
  "ipaddr.js": "deliver",
  liquidjs: "deliver",
  postgrator: "migrate",
  "sms-segments-calculator": "deliver",
  standardwebhooks: "deliver",
};
