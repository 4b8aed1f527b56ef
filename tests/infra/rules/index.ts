import { alarmRules } from "./alarms.ts";
import { databaseRules } from "./database.ts";
import { emailRules } from "./email.ts";
import { eventSourceRules } from "./event-sources.ts";
import { eventRules } from "./events.ts";
import { functionRules } from "./functions.ts";
import { iamRules } from "./iam.ts";
import { metricRules } from "./metrics.ts";
import { migrateRules } from "./migrate.ts";
import { networkRules } from "./network.ts";
import { queueRules } from "./queues.ts";
import type { Rule } from "./rule.ts";
import { scheduleRules } from "./schedule.ts";
import { secretRules } from "./secrets.ts";
import { stageRules } from "./stages.ts";
import { sumRules } from "./sums.ts";

/** All that must hold in every stage. */
export const rules: readonly Rule[] = [
  ...queueRules,
  ...eventSourceRules,
  ...scheduleRules,
  ...migrateRules,
  ...databaseRules,
  ...networkRules,
  ...iamRules,
  ...secretRules,
  ...emailRules,
  ...eventRules,
  ...metricRules,
  ...alarmRules,
  ...functionRules,
  ...sumRules,
  ...stageRules,
];
