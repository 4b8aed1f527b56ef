import type { Attempt, History } from "@owed/ledger";
import { expect, test } from "vitest";
import { standing, timeline } from "./timeline.ts";

const at = (time: string) => new Date(`2026-03-29T${time}Z`);

const attempt = (time: string, kind: string, changes: Partial<Attempt> = {}): Attempt => ({
  at: at(time),
  kind,
  generation: 0,
  messageId: null,
  providerMessageId: null,
  actor: null,
  reason: null,
  ...changes,
});

const row = (changes: Partial<History> = {}): History => ({
  id: "n-1",
  state: "delivered",
  shipmentId: "S-1",
  eventId: "E-1",
  status: "customs_hold",
  occurredAt: at("09:00:00"),
  recordedAt: at("09:00:01"),
  onUnknown: "resend",
  recipientId: "buyer-1",
  role: "buyer",
  channel: "email",
  template: "customs_hold",
  dueAt: at("09:00:01"),
  sendBy: null,
  owedAt: null,
  queuedAt: at("09:01:00"),
  claimedAt: at("09:01:01"),
  deliveredAt: at("09:01:02"),
  cancelledAt: null,
  stoppedAt: null,
  generation: 0,
  attempts: 1,
  rescues: 0,
  resends: 0,
  sentTo: "b***@example.com",
  provider: "ses",
  providerMessageId: "0100-a",
  evidence: "reply",
  outcome: "arrived",
  reason: null,
  cancelledBy: null,
  replays: null,
  mode: null,
  tries: [],
  ...changes,
});

const told = (history: History) =>
  timeline(history).map(({ at: when, what }) => `${when.toISOString().slice(11, 19)} ${what}`);

test("a clean delivery", () => {
  expect(told(row())).toEqual([
    "09:00:00 the shipment came into customs_hold (event E-1)",
    "09:00:01 recorded: owed to buyer-1 (buyer) by email, template customs_hold",
    "09:01:00 marked as queued",
    "09:01:01 a worker took it to send it to b***@example.com",
    "09:01:02 delivered: ses accepted it as 0100-a, says its reply; outcome arrived",
  ]);
});

test("tries and people, in the order of time", () => {
  const history = row({
    generation: 1,
    attempts: 2,
    queuedAt: at("09:20:00"),
    claimedAt: at("09:20:01"),
    deliveredAt: at("09:20:02"),
    evidence: "feedback",
    tries: [
      attempt("09:01:05", "refused", { reason: "InvalidAddress: address has a space" }),
      attempt("09:10:00", "redriven", { actor: "ana", reason: "corrected" }),
      attempt("09:21:00", "duplicate", { providerMessageId: "0100-b", reason: "accepted once more" }),
    ],
  });
  expect(told(history).slice(2)).toEqual([
    "09:01:05 refused for good: dead: InvalidAddress: address has a space",
    "09:10:00 redriven by ana: corrected",
    "09:20:00 marked as queued (the last time)",
    "09:20:01 a worker took it to send it to b***@example.com (the last time)",
    "09:20:02 delivered: ses accepted it as 0100-a, says its own event; outcome arrived",
    "09:21:00 sent twice, certainly (the provider's message 0100-b): accepted once more",
  ]);
});

test("a row that was dead from the start says why, and one owed anew names the old one", () => {
  const never = { queuedAt: null, claimedAt: null, deliveredAt: null, evidence: null, sentTo: null } as const;
  const dead = row({ ...never, state: "dead", stoppedAt: at("09:00:01"), reason: "no_address" });
  expect(told(dead).at(-1)).toBe("09:00:01 stopped: no_address");
  expect(standing(dead)).toBe("dead (no_address); it waits for a person: owed dead");
  const anew = row({
    ...never,
    state: "pending",
    owedAt: at("10:00:00"),
    dueAt: at("10:00:00"),
    replays: "n-0",
  });
  expect(told(anew).at(-1)).toBe(
    "10:00:00 owed to buyer-1 (buyer) by email, template customs_hold, once more after n-0",
  );
  expect(standing(anew)).toBe("pending; looked at again at 2026-03-29T10:00:00.000Z");
  expect(standing(row({ outcome: "accepted" }))).toBe("delivered; nothing more happens to it");
});

test("what became of it, with the provider's own words", () => {
  const bounced = row({ outcome: "bounced", reason: "Permanent: General" });
  expect(told(bounced).at(-1)).toBe(
    "09:01:02 delivered: ses accepted it as 0100-a, says its reply; outcome bounced (Permanent: General)",
  );
  expect(standing(bounced)).toBe(
    "delivered, and it bounced (Permanent: General); nothing more happens to it",
  );
  expect(standing(row({ outcome: "arrived" }))).toBe("delivered, and it arrived; nothing more happens to it");
});

const waiting = { deliveredAt: null, evidence: null, provider: null, providerMessageId: null } as const;

test("suppressed: cancelled, in words; and what the provider says afterwards", () => {
  const changes = {
    ...waiting,
    state: "cancelled",
    cancelledAt: at("09:02:00"),
    reason: "suppressed",
  } as const;
  const suppressed = row({ ...changes, outcome: "none" });
  expect(told(suppressed).at(-1)).toBe("09:02:00 cancelled: its address is suppressed");
  expect(standing(suppressed)).toBe("cancelled (its address is suppressed); nothing more happens to it");
  expect(standing(row({ ...changes, provider: "ses", outcome: "arrived" }))).toBe(
    "cancelled (its address is suppressed), although ses had accepted it, and it arrived",
  );
});

test("what was put off waits for its channel", () => {
  const deferred = row({
    ...waiting,
    ...{ state: "pending", outcome: "none", owedAt: at("09:30:00"), generation: 1 },
    reason: "Throttling: Maximum sending rate exceeded.",
    tries: [attempt("09:01:02", "throttled", { reason: "Throttling: Maximum sending rate exceeded." })],
  });
  expect(told(deferred).at(-1)).toBe(
    "09:01:02 throttled, or its provider is down: it waits, and no attempt is counted: Throttling: Maximum sending rate exceeded.",
  );
  const closed = { for: "operator", why: "ana: wrong template", since: at("09:00:00"), until: null };
  const now =
    "pending (Throttling: Maximum sending rate exceeded.); looked at again at 2026-03-29T09:30:00.000Z";
  expect(standing(deferred)).toBe(now);
  expect(standing(deferred, closed)).toBe(
    `${now}; its channel is closed since 2026-03-29T09:00:00.000Z until somebody opens it (owed open email): somebody closed it (ana: wrong template)`,
  );
});

test("what is no longer to be sent says so before a sweep has come to it, with what made it so", () => {
  const owed = row({
    ...waiting,
    ...{ state: "pending", outcome: "none", owedAt: at("09:30:00"), queuedAt: null, claimedAt: null },
  });
  expect(standing(owed, undefined, { reason: "opted_out", by: "suppression 17" })).toBe(
    "pending; it will not be sent, since its recipient has opted out (suppression 17); it is cancelled when it is looked at again, at 2026-03-29T09:30:00.000Z",
  );
  const told = (cause: Parameters<typeof timeline>[1]) => timeline(owed, cause).at(-1);
  expect(told({ kind: "recipient", at: at("09:10:00") })).toEqual({
    at: at("09:10:00"),
    what: "the recipient opted out",
  });
  expect(told({ kind: "suppression", id: "17", cause: "opted_out", at: at("09:10:00") })?.what).toBe(
    "its address was suppressed: its owner opted out (suppression 17)",
  );
  expect(told({ kind: "event", id: "E-2", status: "returned", at: at("09:10:00") })?.what).toBe(
    "the shipment came into returned (event E-2)",
  );
});
