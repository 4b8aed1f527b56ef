import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bodyOf, detailOf, envelope } from "../testing/events.ts";
import { parseEvent } from "./event.ts";

const id = "must be 1 to 128 characters of A-Z a-z 0-9 . _ : -";
const shipment = "must be 1 to 64 characters of A-Z a-z 0-9 . _ : -";
const status = "must be a status such as customs_hold";
const time = "must be a time that exists, with its offset, such as 2026-03-29T09:30:00+02:00 (RFC 3339)";

test("a valid event comes out as it went in, its time to the letter, what is not asked for left out", () => {
  const detail = detailOf({ id: "E-1", carrier: "DHL", address: "ana@example.org" });
  expect(parseEvent(JSON.stringify(envelope(detail, { more: 1 })))).toEqual({
    id: "E-1",
    shipmentId: "S-1",
    status: "customs_hold",
    occurredAt: "2026-03-29T09:30:00.123456+02:00",
  });
});

describe("the body", () => {
  const text = (value: unknown) => JSON.stringify(value);
  test.each([
    ["empty", "", "body", "must be JSON"],
    ["not JSON", "{", "body", "must be JSON"],
    ["cut off", bodyOf().slice(0, -1), "body", "must be JSON"],
    ["NUL in the open", `\0${bodyOf()}`, "body", "must be JSON"],
    ["a text", text("event"), "body", "must be an object"],
    ["a number", "1e999", "body", "must be an object"],
    ["null", "null", "body", "must be an object"],
    ["a list", text([]), "detail-type", "is missing"],
    ["deep", `${"[".repeat(30_000)}${"]".repeat(30_000)}`, "detail-type", "is missing"],
    ["without a type", text({ detail: detailOf() }), "detail-type", "is missing"],
    [
      "of another type",
      text(envelope(detailOf(), { "detail-type": "order.paid" })),
      "detail-type",
      "must be shipment.status_changed",
    ],
    ["without a detail", text(envelope(undefined)), "detail", "is missing"],
    ["with a text as detail", text(envelope("undefined")), "detail", "must be an object"],
    ["with null as detail", text(envelope(null)), "detail", "must be an object"],
    [
      "with the fields in a prototype",
      `{"detail-type":"shipment.status_changed","detail":{"__proto__":${text(detailOf())}}}`,
      "id",
      "is missing",
    ],
    ["of 64 KiB and a byte", bodyOf().padEnd(65_537), "body", "must not be larger than 65536 bytes"],
    [
      "of 64 KiB of characters, and more of bytes",
      bodyOf({ note: "🚚".repeat(20_000) }),
      "body",
      "must not be larger than 65536 bytes",
    ],
    ["of 1 MiB", bodyOf({ note: "🚚".repeat(262_144) }), "body", "must not be larger than 65536 bytes"],
  ])("%s", (_, body, field, reason) => {
    expect(parseEvent(body)).toEqual({ field, reason });
  });

  test("of 64 KiB is taken", () => {
    expect(parseEvent(bodyOf().padEnd(65_536))).toMatchObject({ status: "customs_hold" });
  });
});

describe("a field", () => {
  const wrong: [string, unknown, string][] = [
    ["id", undefined, "is missing"],
    ["id", null, "must be a text"],
    ["id", 7, "must be a text"],
    ["id", ["E-1"], "must be a text"],
    ["id", "", id],
    ["id", "undefined \u0000", id],
    ["id", "E-1\n", id],
    ["id", "E 1", id],
    ["id", "é", id],
    ["id", "\ud800", id],
    ["id", "E".repeat(129), id],
    ["shipment_id", undefined, "is missing"],
    ["shipment_id", {}, "must be a text"],
    ["shipment_id", "S\u0000", shipment],
    ["shipment_id", "S\udfff", shipment],
    ["shipment_id", "S\u001b[31m", shipment],
    ["shipment_id", "'; DROP TABLE owed.event; --", shipment],
    ["shipment_id", "S".repeat(65), shipment],
    ["status", undefined, "is missing"],
    ["status", true, "must be a text"],
    ["status", "Customs_Hold", status],
    ["status", "customs_hold\u0000", status],
    ["status", "customs hold", status],
    ["status", "c".repeat(41), status],
    ["occurred_at", undefined, "is missing"],
    ["occurred_at", 1_774_776_600, "must be a text"],
    ["occurred_at", "", time],
    ["occurred_at", "2026-02-30T10:00:00Z", time],
    ["occurred_at", "2026-01-01T10:00:00", time],
  ];
  test.each(wrong)("%s: %j", (field, value, reason) => {
    expect(parseEvent(bodyOf({ [field]: value }))).toEqual({ field, reason });
  });

  test("the first that is wrong is named", () => {
    expect(parseEvent(bodyOf({ id: 1, shipment_id: 2, status: 3, occurred_at: 4 }))).toEqual({
      field: "id",
      reason: "must be a text",
    });
  });
});

describe("whatever comes", () => {
  const fields = ["id", "shipment_id", "status", "occurred_at", "detail", "detail-type", "body"];
  /** An event of four texts, or a refusal that names a field and says no more than we wrote. */
  const judged = (body: string) => {
    const parsed = parseEvent(body);
    if (!("reason" in parsed)) {
      expect(Object.values(parsed).map((value) => typeof value)).toEqual(Array(4).fill("string"));
      return;
    }
    expect(fields).toContain(parsed.field);
    expect(parsed.reason).toMatch(/^(is missing|must .{2,90})$/);
  };
  /** Any sequence of UTF-16 units: lone surrogates, NUL and all. */
  const anyText = fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 60 })
    .map((units) => units.map((unit) => String.fromCharCode(unit)).join(""));

  test("any text has an answer", () => {
    fc.assert(fc.property(fc.oneof(anyText, fc.json()), judged));
  });

  test("any JSON in any place of an event has an answer", () => {
    const place = fc.constantFrom("id", "shipment_id", "status", "occurred_at");
    const value = fc.oneof(anyText, fc.jsonValue());
    fc.assert(fc.property(place, value, (field, any) => judged(bodyOf({ [field]: any }))));
    fc.assert(fc.property(value, (any) => judged(JSON.stringify(envelope(any)))));
    fc.assert(
      fc.property(value, (any) => judged(JSON.stringify(envelope(detailOf(), { "detail-type": any })))),
    );
  });

  test("every valid event comes out as it went in", () => {
    const ids = fc.stringMatching(/^[A-Za-z0-9._:-]{1,64}$/);
    const times = fc
      .date({ min: new Date("1970-01-01"), max: new Date("9999-12-31"), noInvalidDate: true })
      .map((date) => date.toISOString().slice(0, 19));
    const fractions = fc.stringMatching(/^(\.[0-9]{1,9})?$/);
    const offsets = fc.stringMatching(/^([Zz]|[+-](0[0-9]|1[0-4]):[0-5][0-9])$/);
    fc.assert(
      fc.property(
        ids,
        ids,
        fc.stringMatching(/^[a-z][a-z_]{0,39}$/),
        fc.tuple(times, fractions, offsets),
        (event, shipmentId, name, parts) => {
          const detail = { id: event, shipment_id: shipmentId, status: name, occurred_at: parts.join("") };
          expect(parseEvent(JSON.stringify(envelope(detail)))).toEqual({
            id: event,
            shipmentId,
            status: name,
            occurredAt: parts.join(""),
          });
        },
      ),
    );
  });
});
