import type { Notification } from "@owed/ledger";
import { expect, test } from "vitest";
import { answers } from "./answer.ts";
import { at, delivered, nothing, now, row, say, tried } from "./answer-testing.ts";

test.each<[string, Notification, string, string]>([
  [
    "accepted",
    delivered(),
    "yes",
    "Yes, buyer-1 was notified of customs_hold (event E-1): the email was accepted by ses at 2026-03-29T09:01:00.000Z, as its message 0100-a, as its reply says, and what became of it is not known.",
  ],
  [
    "arrived",
    delivered({ outcome: "arrived", evidence: "feedback" }),
    "yes",
    "Yes, buyer-1 was notified of customs_hold (event E-1): the email was accepted by ses at 2026-03-29T09:01:00.000Z, as its message 0100-a, as its own event says, and it arrived.",
  ],
  [
    "bounced",
    delivered({ outcome: "bounced", reason: "Permanent: General" }),
    "no",
    "No, buyer-1 was not notified of customs_hold (event E-1): the email was accepted by ses at 2026-03-29T09:01:00.000Z, as its message 0100-a, as its reply says, and it bounced (Permanent: General).",
  ],
  [
    "throttled",
    row({ reason: "Throttling: Maximum sending rate exceeded.", owedAt: at("12:00:30") }),
    "not_yet",
    "Not yet, buyer-1 is still to be notified of customs_hold (event E-1): the email has been owed since 2026-03-29T09:00:01.000Z, and is not tried before 2026-03-29T12:00:30.000Z (Throttling: Maximum sending rate exceeded.).",
  ],
  [
    "due later",
    row({ dueAt: at("13:00:00") }),
    "not_yet",
    "Not yet, buyer-1 is still to be notified of customs_hold (event E-1): the email is due at 2026-03-29T13:00:00.000Z.",
  ],
  [
    "queued",
    row({ state: "queued", queuedAt: at("09:00:30") }),
    "not_yet",
    "Not yet, buyer-1 is still to be notified of customs_hold (event E-1): the email has been in the queue since 2026-03-29T09:00:30.000Z.",
  ],
  [
    "unknown",
    row({ state: "unknown", claimedAt: at("09:00:40"), owedAt: at("09:15:40") }),
    "unknown",
    "Not known whether buyer-1 was notified of customs_hold (event E-1): the email may have been sent at 2026-03-29T09:00:40.000Z, but no outcome is known, and evidence is awaited until 2026-03-29T09:15:40.000Z.",
  ],
  [
    "held",
    row({ state: "unknown", claimedAt: at("09:00:40"), owedAt: null, stoppedAt: at("09:15:40") }),
    "unknown",
    "Not known whether buyer-1 was notified of customs_hold (event E-1): the email may have been sent at 2026-03-29T09:00:40.000Z, but no outcome is known, and a person must decide.",
  ],
  [
    "dead",
    row({
      state: "dead",
      owedAt: null,
      stoppedAt: at("09:02:00"),
      attempts: 5,
      reason: "ECONNREFUSED: the request was not written",
    }),
    "no",
    "No, buyer-1 was not notified of customs_hold (event E-1): the email was given up at 2026-03-29T09:02:00.000Z after 5 tries (ECONNREFUSED: the request was not written).",
  ],
  [
    "opted out",
    row({ state: "cancelled", owedAt: null, reason: "opted_out" }),
    "no",
    "No, buyer-1 was not notified of customs_hold (event E-1): the email was not sent, since the recipient had opted out.",
  ],
  [
    "suppressed",
    row({ state: "cancelled", owedAt: null, reason: "suppressed" }),
    "no",
    "No, buyer-1 was not notified of customs_hold (event E-1): the email was not sent, since its address was suppressed, after a message to it bounced for good or was complained about.",
  ],
  [
    "cancelled, and then the provider's event came",
    row({
      state: "cancelled",
      owedAt: null,
      cancelledAt: at("09:30:00"),
      reason: "superseded",
      provider: "ses",
      providerMessageId: "0100-a",
      outcome: "arrived",
    }),
    "yes",
    "Yes, buyer-1 was notified of customs_hold (event E-1): the email was cancelled at 2026-03-29T09:30:00.000Z, since a newer status made it untrue, but ses had accepted it as its message 0100-a, as its own event says, and it arrived.",
  ],
  [
    "expired",
    row({ state: "cancelled", owedAt: null, reason: "expired", sendBy: at("11:00:00") }),
    "no",
    "No, buyer-1 was not notified of customs_hold (event E-1): the email was not sent, since it could not be sent before 2026-03-29T11:00:00.000Z, when it became too late.",
  ],
  [
    "cancelled by a person",
    row({ state: "cancelled", owedAt: null, reason: "cancelled: the order\nwas withdrawn" }),
    "no",
    'No, buyer-1 was not notified of customs_hold (event E-1): the email was not sent, since an operator cancelled it ("the order\nwas withdrawn").',
  ],
])("%s", (_, notification, answer, sentence) => {
  expect(answers([notification], nothing, now)).toEqual([
    {
      answer,
      sentence,
      recipientId: "buyer-1",
      eventId: "E-1",
      status: "customs_hold",
      occurredAt: at("09:00:00"),
      notifications: ["n-1"],
    },
  ]);
});

test("an operator's word is named, with the grounds", () => {
  const rows = [delivered({ evidence: "operator", provider: null, providerMessageId: null })];
  expect(say(rows, tried("resolved", { actor: "ana", reason: "the buyer called" }))).toEqual([
    'Yes, buyer-1 was notified of customs_hold (event E-1): the email was sent by 2026-03-29T09:01:00.000Z, on the word of ana, who says "the buyer called".',
  ]);
  expect(say(rows)[0]).toContain("on the word of an operator.");
});

test("one sentence for each event and recipient, whatever rows it rests on", () => {
  const said = answers(
    [
      delivered(),
      row({ id: "n-2", template: "customs_hold.still", dueAt: at("13:00:00") }),
      row({ id: "n-3", replays: "n-1" }),
      row({ id: "n-4", recipientId: "agent-1" }),
      row({ id: "n-5", eventId: "E-2" }),
    ],
    nothing,
    now,
  );
  expect(said.map(({ answer, notifications }) => [answer, notifications])).toEqual([
    ["yes", ["n-1", "n-2", "n-3"]],
    ["not_yet", ["n-4"]],
    ["not_yet", ["n-5"]],
  ]);
  expect(said[0]?.sentence).toMatch(
    /: the email was accepted .*; the email customs_hold\.still is due at .*; the email that was sent once more has been owed since /,
  );
});

test("a doubt outweighs what is still to come, and a delivery outweighs a doubt", () => {
  const open = row({ id: "n-2" });
  const doubt = row({ id: "n-3", state: "sending", claimedAt: at("09:00:40") });
  expect(answers([open, doubt], nothing, now)[0]?.answer).toBe("unknown");
  expect(answers([open, doubt, delivered()], nothing, now)[0]?.answer).toBe("yes");
  expect(answers([delivered({ outcome: "bounced" }), open], nothing, now)[0]?.answer).toBe("not_yet");
});

test("a try whose outcome is not known is a doubt, whatever became of the row afterwards", () => {
  const doubt = tried("unknown", { reason: "ECONNRESET: no answer, the request was written" });
  const said = (changes: Partial<Notification>) => answers([row({ attempts: 1, ...changes })], doubt, now)[0];
  const cancelled = said({ state: "cancelled", owedAt: null, reason: "superseded" });
  expect(cancelled?.answer).toBe("unknown");
  expect(cancelled?.sentence).toBe(
    "Not known whether buyer-1 was notified of customs_hold (event E-1): the email was cancelled, since a newer status made it untrue, and an earlier try may have arrived: its outcome was not known at 2026-03-29T09:02:00.000Z (ECONNRESET: no answer, the request was written).",
  );
  expect(said({})?.answer).toBe("unknown");
  expect(said({ state: "dead", owedAt: null, stoppedAt: at("09:30:00"), reason: "x" })?.answer).toBe(
    "unknown",
  );
  expect(answers([delivered({ outcome: "bounced" })], doubt, now)[0]?.answer).toBe("no");
});

test("what waits for a closed channel says so", () => {
  const email = { for: "quota", why: "200 of 200", since: at("10:00:00"), until: at("12:15:00") };
  const grounds = { ...nothing, closed: new Map([["email", email]]) };
  expect(say([row()], grounds)[0]).toMatch(
    /: the email has been owed since 2026-03-29T09:00:01\.000Z, while its channel is closed since 2026-03-29T10:00:00\.000Z until 2026-03-29T12:15:00\.000Z: its quota of 24 hours is used up \(200 of 200\)\.$/,
  );
  expect(say([row({ dueAt: at("13:00:00") })], grounds)[0]).not.toContain("closed");
});
