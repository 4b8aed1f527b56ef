import { alarmRules } from "./alarms.ts";
import { databaseRules } from "./database.ts";
import { documentRules } from "./documents.ts";
import { emailRules } from "./email.ts";
import { eventSourceRules } from "./event-sources.ts";
import { eventRules } from "./events.ts";
import { functionRules } from "./functions.ts";
import { iamRules } from "./iam.ts";
import { metricRules } from "./metrics.ts";
import { migrateRules } from "./migrate.ts";
import { networkRules } from "./network.ts";
import { patternRules } from "./patterns.ts";
import { queueRules } from "./queues.ts";
import { reachRules } from "./reach.ts";
import { restoreRules } from "./restores.ts";
import type { Rule } from "./rule.ts";
import { scheduleRules } from "./schedule.ts";
import { secretRules } from "./secrets.ts";
import { smsRules } from "./sms.ts";
import { stageRules } from "./stages.ts";
import { statisticRules } from "./statistics.ts";
import { sumRules } from "./sums.ts";
import { timeoutRules } from "./timeouts.ts";
import { webhookRules } from "./webhooks.ts";

/** All that must hold in every stage. */
export const rules: readonly Rule[] = [
  ...queueRules,
  ...eventSourceRules,
  ...scheduleRules,
  ...migrateRules,
  ...databaseRules,
  ...restoreRules,
  ...networkRules,
  ...iamRules,
  ...secretRules,
  ...emailRules,
  ...smsRules,
  ...webhookRules,
  ...eventRules,
  ...metricRules,
  ...alarmRules,
  ...functionRules,
  ...sumRules,
  ...stageRules,
  ...documentRules,
  ...reachRules,
  ...patternRules,
  ...statisticRules,
  ...timeoutRules,
];
