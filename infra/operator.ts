import { databaseRole, deployed } from "./database.ts";
import { eventDlq, eventQueue } from "./event.ts";
import { feedbackDlq, feedbackQueue } from "./feedback-queue.ts";
import { notificationDlq, notificationQueue, shadowQueue } from "./queue.ts";
import { arnOf, policyOf, prefix } from "./stage.ts";
import { schedule } from "./sweep.ts";

/**
 * What an operator needs, attached to the people by whoever manages them: the console's *Start DLQ redrive*, the
 * commands of `owed`, and to pause the schedule.
 */

const shadow = shadowQueue ? [shadowQueue.arn] : [];
const queues = [eventQueue.arn, notificationQueue.arn, feedbackQueue.arn, ...shadow];
const dlqs = [eventDlq.arn, notificationDlq.arn, feedbackDlq.arn];

export const operator = new aws.iam.Policy("Operator", {
  name: `${prefix}-operator`,
  description: "Owed: redrive, look into the dead-letter queues, work on the ledger, pause the schedule",
  policy: policyOf([
    // The console's list of queues: SQS has no resource to name for it.
    { sid: "FindQueues", actions: ["sqs:ListQueues"], resources: ["*"] },
    {
      sid: "SeeQueues",
      actions: [
        "sqs:GetQueueUrl",
        "sqs:GetQueueAttributes",
        "sqs:ListDeadLetterSourceQueues",
        "sqs:ListQueueTags",
      ],
      resources: [...queues, ...dlqs],
    },
    {
      // A redrive receives and deletes in the name of who started it (Amazon SQS API permissions reference).
      sid: "Redrive",
      actions: [
        "sqs:StartMessageMoveTask",
        "sqs:ListMessageMoveTasks",
        "sqs:CancelMessageMoveTask",
        "sqs:ReceiveMessage",
        "sqs:ChangeMessageVisibility",
        "sqs:DeleteMessage",
      ],
      resources: [...dlqs, ...shadow],
    },
    { sid: "SendBack", actions: ["sqs:SendMessage"], resources: queues },
    { sid: "SeeLimits", actions: ["ses:GetSendQuota"], resources: ["*"] },
    ...(deployed
      ? [
          {
            sid: "UseLedger",
            actions: ["rds-db:connect"],
            resources: [databaseRole("owed_operator", deployed), databaseRole("owed_reader", deployed)],
          },
        ]
      : []),
    // The console's list of schedules, and the group that it shows beside one.
    {
      sid: "FindSchedule",
      actions: ["scheduler:ListSchedules", "scheduler:ListScheduleGroups"],
      resources: ["*"],
    },
    {
      sid: "SeeScheduleGroup",
      actions: ["scheduler:GetScheduleGroup"],
      resources: [arnOf("scheduler", "schedule-group/default")],
    },
    {
      sid: "PauseSchedule",
      actions: ["scheduler:GetSchedule", "scheduler:UpdateSchedule"],
      resources: [arnOf("scheduler", $interpolate`schedule/default/${schedule.nodes.schedule.name}`)],
    },
    {
      // An update names the schedule's role anew.
      sid: "KeepScheduleRole",
      actions: ["iam:PassRole"],
      resources: [schedule.nodes.role.arn],
      conditions: [
        { test: "StringEquals", variable: "iam:PassedToService", values: ["scheduler.amazonaws.com"] },
      ],
    },
  ]),
});
