import fc from "fast-check";
import { expect, test } from "vitest";
import { anyText, isPlainReason, mutated, tally, written } from "../../../../tests/hostile/arbitraries.ts";
import { isInstant } from "../instant.ts";
import { detailOf, envelope } from "../testing/events.ts";
import { parseEvent } from "./event.ts";

const seen = tally(
  "event",
  "not JSON",
  "detail-type",
  "detail",
  "id",
  "shipment_id",
  "status",
  "occurred_at",
);

const fields = ["body", "detail-type", "detail", "id", "shipment_id", "status", "occurred_at"];
const secret = "ana.lind@example.org";

const valid = fc
  .record({
    id: fc.stringMatching(/^[A-Za-z0-9._:-]{1,128}$/),
    shipment_id: fc.stringMatching(/^[A-Za-z0-9._:-]{1,64}$/),
    status: fc.constantFrom("customs_hold", "out_for_delivery", "z"),
    occurred_at: fc
      .date({ min: new Date(0), max: new Date("2099-12-31"), noInvalidDate: true })
      .map((date) => date.toISOString()),
    note: anyText,
  })
  .map((detail) => envelope(detailOf({ ...detail, recipient: secret })));

test("any body is an event that the ledger can hold, or a refusal with a field and a fixed reason", () => {
  fc.assert(
    fc.property(written(mutated(valid)), (body) => {
      const event = parseEvent(body);
      if ("reason" in event) {
        expect(Object.keys(event)).toEqual(["field", "reason"]);
        expect(fields).toContain(event.field);
        expect(isPlainReason(event.reason, 100)).toBe(true);
        expect(event.reason).not.toContain("ana");
        if (event.field !== "body") seen.count(event.field as "id");
        else if (event.reason === "must be JSON") seen.count("not JSON");
        return;
      }
      seen.count("event");
      expect(Object.keys(event)).toEqual(["id", "shipmentId", "status", "occurredAt"]);
      expect(event.id).toMatch(/^[\x21-\x7e]{1,128}$/);
      expect(event.shipmentId).toMatch(/^[\x21-\x7e]{1,64}$/);
      expect(event.status).toMatch(/^[a-z_]{1,40}$/);
      expect(isInstant(event.occurredAt)).toBe(true);
      // What it says comes in again as it is.
      const detail = {
        id: event.id,
        shipment_id: event.shipmentId,
        status: event.status,
        occurred_at: event.occurredAt,
      };
      expect(parseEvent(JSON.stringify(envelope(detail)))).toEqual(event);
    }),
    { numRuns: 1_500 },
  );
  expect(seen.rarest(), JSON.stringify(seen.reached)).toBeGreaterThan(5);
});

test("text that looks like an id is none, whatever script or invisible character it has", () => {
  const lookAlikes = [
    "Ｓ-1",
    "S-１",
    "S-1 ",
    " S-1",
    "S-1\u200b",
    "Ѕ-1",
    "S‑1",
    "S-1\0",
    "S-1\n",
    "S-1\u202e",
    "S-1'--",
    "S-1%00",
  ];
  for (const shipment_id of lookAlikes) {
    const body = JSON.stringify(envelope(detailOf({ shipment_id })));
    expect(parseEvent(body), shipment_id).toMatchObject({ field: "shipment_id" });
  }
});
