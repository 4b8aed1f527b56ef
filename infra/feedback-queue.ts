import { eventReceives } from "@owed/functions/parse-settings";
import { createQueueWithDlq } from "./dead-letters.ts";
import { visibilityOf } from "./settings-rules.ts";

/** The provider's events wait here: for the feedback function, and for the sweep, which resends nothing while evidence is backed up. */
export const { queue: feedbackQueue, deadLetters: feedbackDlq } = createQueueWithDlq("Feedback", {
  fifo: false,
  visibility: visibilityOf("feedback"),
  receives: eventReceives,
});
