import type { Mistake } from "./mistake.ts";

export const alarmMistakes: Mistake[] = [
  {
    name: "a missing alarm",
    edits: [["alarm.ts", 'createAlarm("ComplaintRate", {', "void ({"]],
    rule: "there is an alarm about all that somebody must be told of",
  },
  {
    name: "an alarm on a metric that nobody writes",
    edits: [
      [
        "alarm.ts",
        'ownMetric("sweep", "oldestOwedAge", "Maximum")',
        'ownMetric("sweep", "oldestOwed", "Maximum")',
      ],
    ],
    rule: "a metric of ours that is looked at is one that its function writes",
  },
  {
    name: "a missing dimension",
    edits: [["metrics.ts", "dimensions: { service: stage }", "dimensions: {}"]],
    rule: "a metric has the dimensions that its service gives it",
  },
  {
    name: "a heartbeat whose absence is no fault",
    edits: [["create-alarm.ts", 'missingIsBad ? "breaching"', 'missingIsBad ? "missing"']],
    rule: "a missing heartbeat is the alarm itself, after three minutes",
  },
];
