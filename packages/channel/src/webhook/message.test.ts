import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { anyText, tally } from "../../../../tests/hostile/arbitraries.ts";
import type { SendRequest } from "../channel.ts";
import { aRequest } from "../email/fixtures.ts";
import { RefusedError } from "../errors.ts";
import { renderWebhook } from "../templates/index.ts";
import { compose } from "./message.ts";
import { parseRootKeys, secretsOf } from "./secret.ts";
import { aKey } from "./testing/inbox.ts";

const keys = parseRootKeys(aKey(1));
const now = () => new Date();
const request = aRequest({ address: "https://shop.example/inbox" });

test("a webhook says what happened to the parcel, and nobody's name or address", () => {
  const { body } = compose(request, keys, now());
  expect(JSON.parse(body)).toEqual({
    type: "shipment.customs_hold",
    timestamp: "2026-03-12T14:05:00.000Z",
    data: {
      notification_id: "0198b1c2-7d3e-7a41-9c55-3f2a1b0c9d8e",
      shipment_id: "shp_81",
      tracking_number: "RR123456785AT",
      status: "customs_hold",
      occurred_at: "2026-03-12T14:05:00.000Z",
      template: "customs_hold",
      merchant_id: "mer_7",
      role: "buyer",
      ...renderWebhook(request),
    },
  });
  const staff = compose({ ...request, role: "merchant" }, keys, now());
  for (const personal of ["Ana Lind", "shop.example"]) expect(staff.body).not.toContain(personal);
});

test("its headers are the specification's, with the row's id at every try and the try's own time", () => {
  const first = compose(request, keys, new Date("2026-03-12T14:05:09.999Z"));
  const second = compose(request, keys, new Date("2026-03-12T15:00:00Z"));
  expect(first.headers).toEqual({
    "content-type": "application/json",
    "content-length": `${Buffer.byteLength(first.body)}`,
    "user-agent": "Owed-Webhooks/1",
    "idempotency-key": request.notificationId,
    "webhook-id": request.notificationId,
    "webhook-timestamp": "1773324309",
    "webhook-signature": expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
  });
  expect(second.body).toBe(first.body);
  expect(second.headers["webhook-id"]).toBe(first.headers["webhook-id"]);
  expect(second.headers["webhook-signature"]).not.toBe(first.headers["webhook-signature"]);
});

describe("signatures, as the specification's library verifies them", () => {
  const verify = (secret: string, { body, headers } = compose(request, keys, now())) =>
    new Webhook(secret).verify(body, headers);
  const [own = ""] = secretsOf(aKey(1), "mer_7");
  const [others = ""] = secretsOf(aKey(1), "mer_8");

  test("are the merchant's own", () => {
    expect(verify(own)).toMatchObject({ type: "shipment.customs_hold" });
    expect(() => verify(others)).toThrow("No matching signature found");
    expect(() => verify(aKey(1)), "nobody has the root key").toThrow("No matching signature found");
  });

  test("hold for this body, id and time alone", () => {
    const { body, headers } = compose(request, keys, now());
    for (const changed of [
      { body: body.replace("customs_hold", "delivered"), headers },
      { body, headers: { ...headers, "webhook-id": "another" } },
      { body, headers: { ...headers, "webhook-timestamp": `${Number(headers["webhook-timestamp"]) + 1}` } },
    ])
      expect(() => verify(own, changed)).toThrow("No matching signature found");
    const old = compose(request, keys, new Date(Date.now() - 600_000));
    expect(() => verify(own, old)).toThrow("Message timestamp too old");
  });

  test("are one of each root key during a rotation: the old secret and the new one verify", () => {
    const rotated = compose(request, parseRootKeys(`${aKey(2)} ${aKey(1)}`), now());
    const secrets = secretsOf(`${aKey(2)} ${aKey(1)}`, "mer_7");
    expect(secrets).toHaveLength(2);
    for (const secret of secrets)
      expect(verify(secret, rotated)).toMatchObject({ data: { merchant_id: "mer_7" } });
    const finished = compose(request, parseRootKeys(aKey(2)), now());
    expect(() => verify(own, finished)).toThrow("No matching signature found");
  });
});

test.for(["", "a.b", "a b", "a\r\nhost: evil", "é", "x".repeat(257)])(
  "%j is no webhook's id",
  (notificationId) => {
    const error = new RefusedError("InvalidNotification", "notificationId cannot be a webhook's id");
    expect(() => compose({ ...request, notificationId }, keys, now())).toThrow(error);
  },
);

test("whatever stands in a row, its webhook is JSON that verifies and says what the row says", () => {
  const seen = tally("composed");
  const texts = fc.record({
    id: anyText,
    trackingNumber: anyText,
    status: anyText,
    name: anyText,
    merchant: anyText,
  });
  fc.assert(
    fc.property(texts, ({ id, trackingNumber, status, name, merchant }) => {
      const shipment = { ...request.shipment, id, trackingNumber, status };
      const changed: SendRequest = {
        ...request,
        name,
        shipment,
        merchant: { ...request.merchant, name: merchant },
      };
      const { body, headers } = compose(changed, keys, now());
      const [secret = ""] = secretsOf(aKey(1), "mer_7");
      const said = new Webhook(secret).verify(body, headers);
      expect(said).toMatchObject({
        type: `shipment.${status}`,
        data: { shipment_id: id, tracking_number: trackingNumber, status },
      });
      expect(said).not.toHaveProperty("data.name");
      expect(
        [...body].every((character) => character >= " "),
        body,
      ).toBe(true);
      for (const value of Object.values(headers)) expect(value).toMatch(/^[!-~ ]+$/);
      seen.count("composed");
    }),
    { numRuns: 300 },
  );
  expect(seen.rarest()).toBe(300);
});
