import type { Mistake } from "./mistake.ts";

export const scheduleMistakes: Mistake[] = [
  {
    name: "rate(1 minutes)",
    edits: [["sweep.ts", '"rate(1 minute)"', '"rate(1 minutes)"']],
    rule: "a schedule's expression is one that AWS knows",
  },
  {
    name: "ingest without the settings",
    edits: [["event.ts", "notificationQueue, settingsLink]", "notificationQueue]"]],
    rule: "whoever publishes, and deliver, are linked to the settings, and nobody else",
  },
  {
    name: "two retries of a sweep",
    edits: [["sweep.ts", "more: {\n    retries: 0", "more: {\n    retries: 2"]],
    rule: "a beat that failed is not repeated, and one that is late is dropped",
  },
  {
    name: "the schedule on under sst dev",
    stage: "dev",
    dev: true,
    edits: [["sweep.ts", "!settings.hold && (!$dev || settings.scheduleInDev)", "!settings.hold"]],
    rule: "the schedule is on where it is wanted, and nowhere else",
  },
  {
    name: "a sweep while the stage is held",
    settings: { hold: true },
    edits: [["sweep.ts", "!settings.hold && (", "("]],
    rule: "the schedule is on where it is wanted, and nowhere else",
  },
  {
    name: "sends while the stage is held",
    settings: { hold: true },
    edits: [["deliver.ts", "enabled: !settings.hold", "enabled: true"]],
    rule: "an event source is on, but for deliver's and feedback's while the stage is held",
  },
  {
    name: "migrate not waited for",
    edits: [["ledger-function.ts", "MIGRATED: migrated", 'MIGRATED: "000001 0123456789ab"']],
    rule: "functions that work on the ledger wait for migrate",
  },
];
