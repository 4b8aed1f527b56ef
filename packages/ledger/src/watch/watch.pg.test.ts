import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { registerShipment, type Shipment, type Subscriber, subscribe } from "../index.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  await registerShipment(database.ledger, shipment);
});
afterAll(() => database.drop());

const shipment: Shipment = { id: "S-1", trackingNumber: "T-1", merchant: { id: "m", name: "Shop" } };
const buyer: Subscriber = {
  shipmentId: "S-1",
  recipientId: "buyer-1",
  role: "buyer",
  channel: "email",
  address: "ann@example.com",
  name: "Ann",
  locale: "en",
};

/** The error names the field, and never quotes the value. */
const refuses = async (attempt: Promise<void>, field: string, value?: string) => {
  const error = await attempt.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ code: "OW003", column_name: field });
  expect(String(error)).toContain(field);
  if (value) expect(JSON.stringify(error) + String(error)).not.toContain(value);
};

describe("a subscriber", () => {
  test.each<[string, Partial<Subscriber>]>([
    ["shipment_id", { shipmentId: "nobody-knows-it" }],
    ["recipient_id", { recipientId: "a b" }],
    ["channel", { channel: "pigeon" }],
    ["address", { address: "ann@example.com\r\nBcc: eve@example.com" }],
    ["address", { address: "a".repeat(321) }],
    ["name", { name: "Ann\u0007" }],
    ["name", { name: "n".repeat(201) }],
    ["locale", { locale: "de_DE" }],
    ["time_zone", { timeZone: "Europe/Atlantis" }],
  ])("is refused for its %s", async (field, wrong) => {
    const value = Object.values(wrong)[0];
    await refuses(
      subscribe(database.ledger, { ...buyer, ...wrong }),
      field,
      typeof value === "string" ? value : undefined,
    );
  });

  test("lives where it says, until it says otherwise", async () => {
    for (const timeZone of ["Europe/Vienna", "Asia/Kolkata", null]) {
      await subscribe(database.ledger, { ...buyer, timeZone });
      const [row] = await database.sql`SELECT time_zone FROM owed.subscriber WHERE recipient_id = 'buyer-1'`;
      expect(row?.time_zone).toBe(timeZone);
    }
  });

  test("may have a name in any script, with emoji, and a lone surrogate becomes the replacement character", async () => {
    for (const name of ["ليلى حداد", "Nguyễn Thị Hoa", "👩‍👩‍👧 Familie Weiß", "half \ud83d"]) {
      await subscribe(database.ledger, { ...buyer, name });
      const [row] = await database.sql`SELECT name FROM owed.subscriber WHERE recipient_id = 'buyer-1'`;
      expect(row?.name).toBe(name.toWellFormed());
    }
  });

  test("with a NUL in the name is refused by the database", async () => {
    await expect(subscribe(database.ledger, { ...buyer, name: "a\u0000b" })).rejects.toMatchObject({
      code: "22021",
    });
  });

  test("may lack an address, an empty one counts as none, and a later one corrects it", async () => {
    const address = async () =>
      (await database.sql`SELECT address FROM owed.subscriber WHERE recipient_id = 'buyer-1'`)[0]?.address;
    await subscribe(database.ledger, { ...buyer, address: " " });
    expect(await address()).toBeNull();
    await subscribe(database.ledger, { ...buyer, address: "new@example.com" });
    expect(await address()).toBe("new@example.com");
  });
});

test.each<[string, Shipment]>([
  ["shipment_id", { ...shipment, id: "S 1" }],
  ["merchant_id", { ...shipment, merchant: { id: "", name: "Shop" } }],
  ["merchant_name", { ...shipment, merchant: { id: "m", name: "Shop\nSeven" } }],
  ["tracking_number", { ...shipment, trackingNumber: "" }],
])("a shipment is refused for its %s", async (field, wrong) => {
  await refuses(registerShipment(database.ledger, wrong), field);
});

test("a shipment that is registered again takes the newest values, its merchant among them", async () => {
  await registerShipment(database.ledger, {
    ...shipment,
    trackingNumber: "T-9",
    merchant: { id: "M-9", name: "Other" },
  });
  expect(
    await database.sql`SELECT tracking_number, merchant_id FROM owed.shipment WHERE id = ${shipment.id}`,
  ).toEqual([{ tracking_number: "T-9", merchant_id: "M-9" }]);
});

test("no more than fifty watch a shipment, and those who do can still be brought up to date", async () => {
  const watcher = (place: number): Subscriber => ({
    ...buyer,
    shipmentId: "S-crowd",
    recipientId: `R-${place}`,
  });
  await registerShipment(database.ledger, { ...shipment, id: "S-crowd" });
  for (let place = 0; place < 50; place += 1) await subscribe(database.ledger, watcher(place));
  await refuses(subscribe(database.ledger, watcher(50)), "shipment_id");
  await subscribe(database.ledger, { ...watcher(7), address: "new@example.com" });
  const [crowd] = await database.sql`
    SELECT count(*)::int, count(*) FILTER (WHERE address = 'new@example.com')::int AS new
    FROM owed.subscriber WHERE shipment_id = 'S-crowd'`;
  expect(crowd).toEqual({ count: 50, new: 1 });
});

describe("a merchant is described", () => {
  const describeMerchant = async (id: string, url: string | null, zone: string | null): Promise<void> => {
    await database.sql`SELECT owed.describe_merchant(${id}, ${url}, ${zone})`;
  };
  const read = () => database.sql`SELECT tracking_url, time_zone, name FROM owed.merchant WHERE id = 'm'`;
  const page = "https://shop.example/track/{tracking_number}";

  test("and nobody else is", async () => {
    await database.sql`INSERT INTO owed.merchant (id, name) VALUES ('neighbour', 'Neighbour')`;
    await describeMerchant("m", page, "UTC");
    expect(
      await database.sql`SELECT tracking_url, time_zone FROM owed.merchant WHERE id = 'neighbour'`,
    ).toEqual([{ tracking_url: null, time_zone: null }]);
  });

  test("by its page about a parcel and its time zone, anew each time, and of no other one", async () => {
    await database.sql`INSERT INTO owed.merchant (id, name) VALUES ('other', 'Other') ON CONFLICT DO NOTHING`;
    for (const [url, zone] of [
      [page, null],
      [page, "Europe/Vienna"],
      [null, "UTC"],
      [`https://${"p".repeat(400)}`, "UTC"],
      [null, null],
    ] as const) {
      await describeMerchant("m", url, zone);
      expect(await read()).toMatchObject([{ tracking_url: url, time_zone: zone }]);
    }
    expect(await database.sql`SELECT tracking_url FROM owed.merchant WHERE id = 'other'`).toEqual([
      { tracking_url: null },
    ]);
  });

  test.each<[field: string, id: string, url: string | null, zone: string | null]>([
    ["merchant_id", "nobody", null, null],
    ["tracking_url", "m", "http://shop.example", null],
    ["tracking_url", "m", "https://", null],
    ["tracking_url", "m", "https://shop.example/a b", null],
    ["tracking_url", "m", "https://shop.example/\u0007", null],
    ["tracking_url", "m", `https://${"p".repeat(401)}`, null],
    ["time_zone", "m", null, "Mars/Olympus"],
  ])("is refused for its %s: %s %s %s", async (field, id, url, zone) => {
    await refuses(describeMerchant(id, url, zone), field);
    expect(await read()).toMatchObject([{ tracking_url: null, time_zone: null }]);
  });
});

test("registering one again, under another merchant and name, changes no other shipment and no other merchant", async () => {
  const one = { id: "S-one", trackingNumber: "T-one", merchant: { id: "m-one", name: "One" } };
  const other = { id: "S-other", trackingNumber: "T-other", merchant: { id: "m-other", name: "Other one" } };
  for (const given of [other, one]) await registerShipment(database.ledger, given);
  await registerShipment(database.ledger, {
    ...one,
    trackingNumber: "T-new",
    merchant: { id: "m-one", name: "New" },
  });
  expect(
    await database.sql`
      SELECT sh.id, sh.tracking_number AS number, m.name FROM owed.shipment sh JOIN owed.merchant m ON m.id = sh.merchant_id
      WHERE sh.id IN ('S-one', 'S-other') ORDER BY 1`,
  ).toEqual([
    { id: "S-one", number: "T-new", name: "New" },
    { id: "S-other", number: "T-other", name: "Other one" },
  ]);
});

test("what the old sender holds of another shipment keeps none from its new merchant; of its own it does", async () => {
  const merchant = { id: "m-holds", name: "Holds" };
  const [held, free] = [
    { ...shipment, id: "S-held", merchant },
    { ...shipment, id: "S-free", merchant },
  ];
  for (const given of [held, free]) {
    await registerShipment(database.ledger, given);
    await subscribe(database.ledger, { ...buyer, shipmentId: given.id });
  }
  for (const id of ["E-held-0", "E-free", "E-held-1"])
    await database.sql`SELECT owed.record_event(${id}, ${id.startsWith("E-free") ? "S-free" : "S-held"}, 'delivered', now())`;
  await database.sql`
    UPDATE owed.notification n SET mode = 'old', owed_at = 'infinity' FROM owed.event e
    WHERE e.key = n.event_key AND e.shipment_id = 'S-held' AND n.state = 'pending'`;
  const elsewhere = { id: "m-elsewhere", name: "Elsewhere" };
  await registerShipment(database.ledger, { ...free, merchant: elsewhere });
  await refuses(registerShipment(database.ledger, { ...held, merchant: elsewhere }), "merchant_id");
  await registerShipment(database.ledger, { ...held, trackingNumber: "T-8" });
});
