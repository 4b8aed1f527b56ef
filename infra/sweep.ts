import { timeouts } from "@owed/functions/parse-settings";
import { feedbackQueue } from "./feedback-queue.ts";
import { createLedgerFunction } from "./ledger-function.ts";
import { notificationQueue, shadowQueue } from "./queue.ts";
import { settingsLink } from "./settings-link.ts";
import { account, prefix, settings, trustIn } from "./stage.ts";

/**
 * Each minute: what is owed goes from the ledger into the queue. A beat that fails or comes late is not repeated, the
 * next one does its work; so nothing is retried here, neither by the schedule nor by Lambda, and nothing waits.
 */

/** Seconds: what neither of the two may try after, and the least that both take. */
const eventAge = 60;

export const sweep = createLedgerFunction("sweep", {
  timeout: timeouts.sweep,
  link: [notificationQueue, feedbackQueue, shadowQueue ?? [], settingsLink].flat(),
  permissions: [
    { actions: ["sqs:SendMessage", "sqs:GetQueueAttributes"], resources: [notificationQueue.arn] },
    { actions: ["sqs:GetQueueAttributes"], resources: [feedbackQueue.arn] },
    shadowQueue ? { actions: ["sqs:SendMessage"], resources: [shadowQueue.arn] } : [],
    // SES has no resource to name for it.
    { actions: ["ses:GetSendQuota"], resources: ["*"] },
  ].flat(),
  more: {
    retries: 0,
    ...(settings.concurrency.reserveSweep && { concurrency: { reserved: 1 } }),
    transform: { eventInvokeConfig: { maximumEventAgeInSeconds: eventAge } },
  },
});

const minutes = settings.functions.sweep.every / 60;

/**
 * Off while the stage is held, and under `sst dev`, unless asked for: it would beat on after the session, into a function that nobody runs. A pause
 * from the console lasts until the next deployment; `owed pause` lasts until `owed resume`.
 */
export const schedule = new sst.aws.CronV2("SweepSchedule", {
  function: sweep,
  schedule: minutes === 1 ? "rate(1 minute)" : `rate(${minutes} minutes)`,
  enabled: !settings.hold && (!$dev || settings.scheduleInDev),
  retries: 0,
  transform: {
    schedule: (args) => {
      args.name = `${prefix}-sweep`;
      args.target = $output(args.target).apply((target) => ({
        ...target,
        retryPolicy: { ...target.retryPolicy, maximumEventAgeInSeconds: eventAge },
      }));
    },
    role: (args) => {
      // No other account's schedule may have it started.
      args.assumeRolePolicy = trustIn("scheduler", [
        { test: "StringEquals", variable: "aws:SourceAccount", values: [account] },
      ]);
    },
  },
});
