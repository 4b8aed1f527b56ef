import type { Mistake } from "./mistake.ts";

export const typeMistakes: Mistake[] = [
  {
    name: "a duration that is none",
    edits: [["dead-letters.ts", " seconds`", " secs`"]],
    types: /dead-letters\.ts.*secs/,
  },
  {
    name: "an option that SST does not know",
    edits: [["dead-letters.ts", "dlq: { queue:", "deadLetterQueue: { queue:"]],
    types: /dead-letters\.ts.*deadLetterQueue/,
  },
  {
    name: "an attribute that AWS does not know",
    edits: [["create-alarm.ts", "evaluationPeriods: periods", "evaluationPeriod: periods"]],
    types: /create-alarm\.ts.*evaluationPeriod/,
  },
  {
    name: "a link to something that is not there",
    edits: [["event.ts", "link: [eventQueue, ", "link: [shipmentQueue, "]],
    types: /event\.ts.*shipmentQueue/,
  },
  {
    name: "a stage with a setting that does not exist",
    edits: [["stages.ts", "multiAz: true", "multiAZ: true"]],
    types: /stages\.ts.*multiAZ/,
  },
  {
    name: "a function of a stage that does not exist",
    edits: [["event.ts", 'createLedgerFunction("ingest"', 'createLedgerFunction("ingestion"']],
    types: /event\.ts.*ingestion/,
  },
];
