import type { Notification } from "@owed/ledger";
import { expect, test } from "vitest";
import { cameThrough, outcomeText } from "./fate.ts";

const accepted = { state: "delivered", outcome: "accepted", reason: null } as const;

test.each<[Pick<Notification, "state" | "outcome" | "reason">, boolean, string]>([
  [accepted, true, "what became of it is not known"],
  [
    { ...accepted, reason: "delayed: MailboxFull" },
    true,
    "what became of it is not known (it last said delayed: MailboxFull)",
  ],
  [{ ...accepted, outcome: "arrived" }, true, "it arrived"],
  [
    { ...accepted, outcome: "bounced", reason: "Permanent: General" },
    false,
    "it bounced (Permanent: General)",
  ],
  [
    { ...accepted, outcome: "bounced", reason: "rejected: Bad content" },
    false,
    "it bounced (rejected: Bad content)",
  ],
  [
    { ...accepted, outcome: "complained", reason: "complaint: abuse" },
    true,
    "it arrived, and the recipient complained about it (complaint: abuse)",
  ],
  [
    { ...accepted, outcome: "complained", reason: "complaint: not-spam" },
    true,
    "it arrived, and the recipient says that it is no spam (complaint: not-spam)",
  ],
  [
    { ...accepted, outcome: "complained", reason: "complaint: OnAccountSuppressionList" },
    false,
    "it was not sent on, since the recipient had complained before (complaint: OnAccountSuppressionList)",
  ],
  [{ state: "cancelled", outcome: "bounced", reason: "superseded" }, false, "it bounced"],
  [{ state: "cancelled", outcome: "none", reason: "superseded" }, false, "what became of it is not known"],
])("%j came through: %s", (row, came, text) => {
  expect([cameThrough(row), outcomeText(row)]).toEqual([came, text]);
});
