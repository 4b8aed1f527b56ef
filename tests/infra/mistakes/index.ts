import { alarmMistakes } from "./alarms.ts";
import { channelMistakes } from "./channels.ts";
import { databaseMistakes } from "./database.ts";
import { emailMistakes } from "./email.ts";
import { functionMistakes } from "./functions.ts";
import { iamMistakes } from "./iam.ts";
import type { Mistake } from "./mistake.ts";
import { networkMistakes } from "./network.ts";
import { queueMistakes } from "./queues.ts";
import { scheduleMistakes } from "./schedule.ts";
import { settingsMistakes } from "./settings.ts";
import { typeMistakes } from "./types.ts";

export const mistakes: readonly Mistake[] = [
  ...queueMistakes,
  ...scheduleMistakes,
  ...databaseMistakes,
  ...networkMistakes,
  ...iamMistakes,
  ...emailMistakes,
  ...channelMistakes,
  ...alarmMistakes,
  ...functionMistakes,
  ...typeMistakes,
  ...settingsMistakes,
];
