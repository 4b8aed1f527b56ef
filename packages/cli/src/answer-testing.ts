import type { Attempt, Notification } from "@owed/ledger";
import { answers, type Grounds } from "./answer.ts";

export const at = (time: string) => new Date(`2026-03-29T${time}Z`);
export const now = at("12:00:00");

export const row = (changes: Partial<Notification> = {}): Notification => ({
  id: "n-1",
  state: "pending",
  shipmentId: "S-1",
  eventId: "E-1",
  status: "customs_hold",
  occurredAt: at("09:00:00"),
  recipientId: "buyer-1",
  role: "buyer",
  channel: "email",
  template: "customs_hold",
  dueAt: at("09:00:01"),
  sendBy: null,
  owedAt: at("09:00:01"),
  queuedAt: null,
  claimedAt: null,
  deliveredAt: null,
  cancelledAt: null,
  stoppedAt: null,
  generation: 0,
  attempts: 0,
  rescues: 0,
  resends: 0,
  sentTo: null,
  provider: null,
  providerMessageId: null,
  evidence: null,
  outcome: "none",
  reason: null,
  cancelledBy: null,
  replays: null,
  mode: null,
  ...changes,
});

export const delivered = (changes: Partial<Notification> = {}): Notification =>
  row({
    state: "delivered",
    deliveredAt: at("09:01:00"),
    evidence: "reply",
    outcome: "accepted",
    provider: "ses",
    providerMessageId: "0100-a",
    owedAt: null,
    attempts: 1,
    ...changes,
  });

export const nothing: Grounds = { tries: new Map(), closed: new Map(), moot: new Map(), circumstances: null };

export const tried = (kind: string, changes: Partial<Attempt> = {}): Grounds => ({
  ...nothing,
  tries: new Map([
    [
      "n-1",
      [
        {
          at: at("09:02:00"),
          kind,
          generation: 0,
          ...{ messageId: null, providerMessageId: null, actor: null, reason: null, ...changes },
        },
      ],
    ],
  ]),
});

export const say = (rows: Notification[], grounds = nothing) =>
  answers(rows, grounds, now).map(({ sentence }) => sentence);
