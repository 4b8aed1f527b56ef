/** The stages of the data in its order, then what serves them all, with the names of their components. */
export const stages: readonly { stage: string; names: RegExp }[] = [
  { stage: "event", names: /^Event/ },
  { stage: "ingest", names: /^Ingest/ },
  { stage: "sweep", names: /^Sweep/ },
  { stage: "queue", names: /^(Notification|Shadow)/ },
  { stage: "deliver", names: /^(Deliver|Webhook)/ },
  { stage: "email", names: /^Email/ },
  { stage: "sms", names: /^Sms/ },
  { stage: "feedback", names: /^Feedback/ },
  { stage: "migrate", names: /^(Migrate|MasterSecret)/ },
  { stage: "network", names: /^Vpc/ },
  { stage: "database", names: /^Database/ },
  { stage: "operator", names: /^(Operator|Platform)/ },
  { stage: "alarm", names: /^Alarm|Alarm$/ },
  { stage: "dashboard", names: /^Dashboard/ },
];

/** The stage that a component is of; an alarm about a queue is an alarm. */
export const stageOf = (component: string): string =>
  stages.findLast(({ names }) => names.test(component))?.stage ?? "other";
