import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  cost,
  isPlainReason,
  longTexts,
  mutated,
  tally,
  written,
} from "../../../../tests/hostile/arbitraries.ts";
import { isInstant } from "../instant.ts";
import { answerOf, bounceOf, complaintOf, recipient, sesEvent } from "../testing/ses-events.ts";
import { type Feedback, parseFeedback } from "./event.ts";
import { inOrder } from "./order.ts";

const seen = tally(
  "accepted",
  "arrived",
  "bounced",
  "complained",
  "detail",
  "suppress",
  "not JSON",
  "shape",
  "type",
  "tag",
);

/** Events of all kinds, their findings as SES words them and otherwise. */
const valid = fc
  .record({
    event: fc.oneof(
      ...[
        "Send",
        "Delivery",
        "Bounce",
        "Complaint",
        "Reject",
        "DeliveryDelay",
        "Open",
        "Click",
        "Rendering Failure",
      ].map((eventType) => fc.constant({ eventType })),
      fc
        .constantFrom("Transient", "Permanent", "Undetermined", "Hard")
        .map((type) => ({ eventType: "Bounce", bounce: bounceOf(type, "General") })),
      fc
        .constantFrom("Transient", "Undetermined")
        .map((type) => ({ eventType: "Bounce", bounce: answerOf(type, "General") })),
      fc
        .constantFrom("not-spam", null, "abuse")
        .map((type) => ({ eventType: "Complaint", complaint: complaintOf(type) })),
    ),
    id: fc.oneof(
      { weight: 9, arbitrary: fc.uuid() },
      { weight: 1, arbitrary: fc.constantFrom("1", "", recipient) },
    ),
  })
  .map(({ event, id }) => sesEvent(id, event));

const why = [
  [/^it is not JSON$/, "not JSON"],
  [/^its [a-zA-Z.]{4,40}(\.\d+)? is not that of an SES event$/, "shape"],
  [/^events of the type (\(unknown\)|[A-Za-z ]{1,40}) say nothing about acceptance$/, "type"],
  [/^it has no tag that names a notification$/, "tag"],
] as const;

const isProof = (feedback: Feedback) => "proof" in feedback;

test("any body is evidence that the ledger can hold, or ignored for a named reason that quotes nobody", () => {
  fc.assert(
    fc.property(written(mutated(valid)), (body) => {
      const feedback = parseFeedback(body);
      if ("ignored" in feedback) {
        const [, kind] = why.find(([pattern]) => pattern.test(feedback.ignored)) ?? [];
        expect(kind, feedback.ignored).toBeDefined();
        if (kind) seen.count(kind);
        return;
      }
      if (!("proof" in feedback)) throw new Error("an SES event is nobody's word");
      const { proof } = feedback;
      seen.count(proof.outcome);
      expect(Object.keys(proof).toSorted()).toEqual([
        "at",
        "detail",
        "evidence",
        "id",
        "outcome",
        "provider",
        "providerMessageId",
        "suppress",
      ]);
      expect(proof.id).toMatch(/^[0-9a-f-]{36}$/);
      expect(proof.at !== null && isInstant(proof.at)).toBe(true);
      expect(proof.providerMessageId).toMatch(/^[\x21-\x7e]{1,256}$/);
      expect(typeof proof.suppress).toBe("boolean");
      if (proof.suppress) seen.count("suppress");
      if (proof.suppress) expect(["bounced", "complained"]).toContain(proof.outcome);
      if (proof.detail === null) return;
      seen.count("detail");
      expect(isPlainReason(proof.detail, 60), proof.detail).toBe(true);
      expect(proof.detail).toMatch(/^[A-Za-z]+(: [A-Za-z][\w -]*)?$/);
    }),
    { numRuns: 1_500 },
  );
  expect(seen.rarest(), JSON.stringify(seen.reached)).toBeGreaterThan(3);
});

test("the order in which a batch's events are weighed is one order, however they come", () => {
  const proof = valid.map((event) => parseFeedback(JSON.stringify(event)));
  fc.assert(
    fc.property(fc.array(proof, { maxLength: 6 }), fc.infiniteStream(fc.nat()), (given, random) => {
      const items = given.flatMap((feedback) =>
        "proof" in feedback ? [{ proof: { ...feedback.proof, queuedAt: null } }] : [],
      );
      const shuffled = items
        .map((item) => ({ item, key: random.next().value }))
        .toSorted((a, b) => a.key - b.key)
        .map(({ item }) => item);
      const texts = (list: typeof items) =>
        inOrder(list).map(({ proof: { id: _, ...rest } }) => JSON.stringify(rest));
      expect(texts(shuffled)).toEqual(texts(items));
    }),
    { numRuns: 300 },
  );
});

test("what is large is read in a time that grows with its size alone", () => {
  for (const text of longTexts()) {
    const many = Array.from({ length: 300 }, () => text.slice(0, 100));
    const events = [
      sesEvent(randomUUID(), { eventType: text }),
      sesEvent(randomUUID(), { messageId: text }),
      sesEvent(randomUUID(), { timestamp: text }),
      sesEvent(text),
      sesEvent(randomUUID(), { tags: { notification: many } }),
      sesEvent(randomUUID(), {
        eventType: "Bounce",
        bounce: { bounceType: text, bounceSubType: text, bouncedRecipients: many },
      }),
      sesEvent(randomUUID(), { eventType: "Complaint", complaint: complaintOf(text, text) }),
    ].map((event) => JSON.stringify(event));
    expect(
      cost(() => events.map(parseFeedback).map(isProof)),
      text.slice(0, 4),
    ).toBeLessThan(1_000);
  }
});
