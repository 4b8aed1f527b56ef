import type { Mistake } from "./mistake.ts";

export const emailMistakes: Mistake[] = [
  {
    name: "SES events to a bus of our own",
    edits: [["email.ts", '"event-bus/default"', '"event-bus/" + prefix']],
    rule: "SES sends its events to the default bus: it takes no other",
  },
];
