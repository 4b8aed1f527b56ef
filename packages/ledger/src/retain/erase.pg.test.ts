import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { happen } from "../../../../tests/support/shipment.ts";
import { audit } from "../ask/audit.ts";
import { listSuppressions } from "../ask/suppressions.ts";
import { hearRecipients } from "../channel/hear-recipient.ts";
import { recordEvidence } from "../deliver/record-evidence.ts";
import { liftSuppression } from "../operate/lift-suppression.ts";
import { claimAll, message, proofOf, take } from "../testing/act.ts";
import { everything, forgetEverybody, tell, watch } from "../testing/person.ts";
import { empty, readRows } from "../testing/rows.ts";
import { type Erased, erase, type Person } from "./erase.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(async () => {
  await empty(database);
  await forgetEverybody(database);
});
afterAll(() => database.drop());

const act = { actor: "ana", why: "request 4711" };
const nothing: Erased = {
  ...{
    id: null,
    subscribers: 0,
    notifications: 0,
    cancelled: 0,
    suppressions: 0,
    refusedEvents: 0,
    texts: 0,
    formerAddresses: 0,
  },
};
const erased = (person: Person, dryRun = false) => erase(database.ledger, person, act, { dryRun });

test("what was sent stays proven, without the address; what was not is cancelled; the record says who and why", async () => {
  const shipment = await watch(database, { address: "Ann@Example.com" });
  const id = await tell(database, shipment);
  await happen(database, shipment, "customs_hold");
  const counts = {
    subscribers: 1,
    notifications: 1,
    cancelled: 2,
    suppressions: 0,
    refusedEvents: 0,
    texts: 0,
    formerAddresses: 0,
  };
  expect(await erased({ address: "ann@example.com " }, true)).toEqual({ id: null, ...counts });
  expect(await everything(database)).toContain("ann@example.com");
  expect(await erased({ address: "ann@example.com " })).toEqual({ id: expect.any(String), ...counts });
  expect(await everything(database)).not.toMatch(/ann@example|ann lee/);
  const rows = await audit(database.ledger, { shipmentId: shipment, recipientId: "buyer-1" });
  expect(rows).toMatchObject([
    {
      id,
      state: "delivered",
      sentTo: null,
      provider: "ses",
      providerMessageId: `P-${id}`,
      evidence: "reply",
    },
    { state: "cancelled", reason: "erased", cancelledBy: expect.stringMatching(/^erasure \d+$/) },
    { state: "cancelled", reason: "erased" },
  ]);
  expect(await database.sql`SELECT erased_by, why, notifications, cancelled FROM owed.erasure`).toEqual([
    { erased_by: "ana", why: "request 4711", notifications: 1, cancelled: 2 },
  ]);
  expect(await erased({ shipmentId: shipment, recipientId: "buyer-1" })).toEqual(nothing);
  expect(await erased({ address: "ann@example.com" })).toBeNull();
  await happen(database, shipment, "out_for_delivery");
  expect((await readRows(database, shipment)).at(-1)).toMatchObject({ state: "cancelled", reason: "erased" });
  expect((await take(database)).leased).toEqual([]);
});

describe("whom", () => {
  test("by an address: everybody who has it, and the same recipient's other channels, and nobody else", async () => {
    const mine = await watch(database, { address: "ann@example.com" });
    await watch(database, { address: "+43 664 1234567", channel: "sms" }, mine);
    await watch(database, { address: "ANN@example.com", recipient: "buyer-2" });
    const other = await watch(database, { address: "joann@example.com", name: "Jo" });
    expect(await erased({ address: "ann@example.com", channel: "sms" })).toBeNull();
    expect(await erased({ address: "ann@example.com", channel: "email" })).toMatchObject({ subscribers: 3 });
    expect(
      await database.sql`SELECT shipment_id, address, name FROM owed.subscriber WHERE erased_at IS NULL`,
    ).toEqual([{ shipment_id: other, address: "joann@example.com", name: "Jo" }]);
  });

  test("by a shipment and recipient; one whose id is an address gets another", async () => {
    const shipment = await watch(database, { address: "ann@example.com", recipient: "ann@example.com" });
    const id = await tell(database, shipment);
    expect(await erased({ shipmentId: shipment, recipientId: "ann@example.com" })).toMatchObject({
      subscribers: 1,
    });
    expect(await everything(database)).not.toContain("ann@example.com");
    expect(await audit(database.ledger, { shipmentId: shipment })).toMatchObject([
      { id, recipientId: expect.stringMatching(/^erased-\d+$/), state: "delivered" },
    ]);
  });

  test.each([
    ["ann-lee", true],
    ["customer.annlee.7", true],
    ["ann-1", false],
  ])("a recipient's id that has the whole name in it is replaced: %s", async (recipient, replaced) => {
    const shipment = await watch(database, { address: "ann@example.com", recipient });
    await erased({ shipmentId: shipment, recipientId: recipient });
    const [row] = await database.sql`SELECT recipient_id AS id FROM owed.subscriber`;
    expect(row?.id === recipient).toBe(!replaced);
  });

  test("an address that was corrected since: all that was ever sent to it", async () => {
    const shipment = await watch(database, { address: "old@example.com" });
    await tell(database, shipment);
    await watch(database, { address: "new@example.com" }, shipment);
    const [row] = await readRows(database, shipment);
    const reason = "was old@example.com, is new@example.com";
    await database.sql`UPDATE owed.notification SET reason = ${reason} WHERE id = ${row?.id ?? ""}`;
    await happen(database, shipment, "customs_hold");
    await database.sql`UPDATE owed.notification SET reason = ${reason} WHERE state = 'pending'`;
    expect(await erased({ address: "old@example.com" })).toMatchObject({
      ...{ subscribers: 0, notifications: 1, cancelled: 0, formerAddresses: 1 },
    });
    expect((await readRows(database, shipment)).map((told) => told.reason)).toEqual(
      Array(3).fill("was [erased], is new@example.com"),
    );
    expect(await database.sql`SELECT address FROM owed.subscriber`).toEqual([{ address: "new@example.com" }]);
    expect(await everything(database)).not.toContain("old@example.com");
    expect(await erased({ address: "old@example.com" })).toBeNull();
  });

  test("an address that was corrected before anything was sent to it, on its channel", async () => {
    const shipment = await watch(database, { address: "odd" });
    await watch(database, { address: "new@example.com" }, shipment);
    expect(await erased({ address: "Odd" }, true)).toEqual({ ...nothing, formerAddresses: 1 });
    expect(await everything(database)).toContain("odd");
    await expect(erased({ address: "Odd", channel: "sms" })).rejects.toThrow(/exactly what a subscriber has/);
    expect(await erased({ address: "Odd", channel: "email" })).toEqual({
      ...{ ...nothing, id: expect.any(String), formerAddresses: 1 },
    });
    expect(await everything(database)).not.toContain("odd");
    expect(await database.sql`SELECT address FROM owed.subscriber`).toEqual([{ address: "new@example.com" }]);
    expect(await database.sql`SELECT former_addresses AS n FROM owed.erasure`).toEqual([{ n: 1 }]);
  });

  test("with its owner, whatever is kept of an address of before, and nobody else's", async () => {
    const shipment = await watch(database, { address: "ann@old.example" });
    await happen(database, shipment, "picked_up");
    const [row] = await readRows(database, shipment);
    await database.sql`
      INSERT INTO owed.attempt (notification_id, kind, generation, reason)
      VALUES (${row?.id ?? ""}, 'failed', 0, '421 <ann@old.example> try later')`;
    await database.sql`
      INSERT INTO owed.suppression (channel, address, cause) VALUES ('email', 'ann@old.example', 'opted_out')`;
    await watch(database, { address: "ann@new.example" }, shipment);
    const other = await watch(database, { address: "jo@example.com" });
    await watch(database, { address: "jo.two@example.com" }, other);
    expect(await erased({ shipmentId: shipment, recipientId: "buyer-1" })).toMatchObject({
      ...{ subscribers: 1, suppressions: 1, texts: 1, formerAddresses: 1 },
    });
    expect(await everything(database)).not.toMatch(/ann@/);
    expect(await database.sql`SELECT address FROM owed.former_address`).toEqual([
      { address: "jo@example.com" },
    ]);
    expect(await erased({ address: "nobody@example.com" })).toBeNull();
  });
});

describe("a suppression holds without the address", () => {
  const suppressed = async (address = "ann@example.com") => {
    const shipment = await watch(database, { address });
    const id = await tell(database, shipment);
    const bounce = { outcome: "bounced", suppress: true, providerMessageId: `P-${id}` } as const;
    await recordEvidence(database.ledger, [
      proofOf(id, { ...bounce, detail: `550 <${address}> is unknown` }),
    ]);
    expect(await erased({ address })).toMatchObject({ suppressions: 1, texts: 1 });
    expect(await everything(database)).not.toContain(address);
    return id;
  };

  test("against whoever registers it again, until it is lifted", async () => {
    await suppressed();
    const again = await watch(database, { address: " Ann@example.com" });
    await happen(database, again, "picked_up");
    expect(await readRows(database, again)).toMatchObject([{ state: "cancelled", reason: "suppressed" }]);
    expect(
      await listSuppressions(database.ledger, { address: "ann@example.com", lifted: false, limit: 9 }),
    ).toMatchObject([
      { address: expect.stringMatching(/^sha256:[0-9a-f]{64}$/), detail: "550 <[erased]> is unknown" },
    ]);
    await liftSuppression(database.ledger, { channel: "email", address: "ann@example.com" }, act);
    await happen(database, again, "out_for_delivery");
    expect((await readRows(database, again)).at(-1)).toMatchObject({ state: "pending" });
  });

  test("and at claim; what bounces later is kept under the digest", async () => {
    const old = await suppressed();
    await liftSuppression(database.ledger, { channel: "email", address: "ann@example.com" }, act);
    const waiting = await watch(database, { address: "ann@example.com" });
    await happen(database, waiting, "picked_up");
    const id = await tell(database, await watch(database, { address: "ann@example.com" }));
    const later = { at: new Date(Date.now() + 60_000).toISOString(), providerMessageId: `P-${id}` };
    expect(
      await recordEvidence(database.ledger, [proofOf(id, { outcome: "bounced", suppress: true, ...later })]),
    ).toMatchObject([{ suppressed: true }]);
    expect(await database.sql`SELECT FROM owed.suppression WHERE address NOT LIKE 'sha256:%'`).toHaveLength(
      0,
    );
    const [row] = await readRows(database, waiting);
    expect(await claimAll(database, message(row?.id ?? ""))).not.toContain("claimed");
    // Of the erased one nothing is known any more but that it complained.
    const complaint = proofOf(old, { outcome: "complained", suppress: true, providerMessageId: `P-${old}` });
    expect(await recordEvidence(database.ledger, [complaint])).toMatchObject([
      { result: "known", suppressed: false },
    ]);
  });

  test("and hears its owner's word", async () => {
    const said = async (word: "stop" | "start", at: number) =>
      hearRecipients(database.ledger, [
        { channel: "sms", address: "+43 664 123", word, at: Date.now() + at },
      ]);
    await watch(database, { address: "+43664123", channel: "sms" });
    expect(await said("stop", -9000)).toBe(1);
    await erased({ address: "+43 664 123" });
    expect(await said("start", -5000)).toBe(1);
    expect(await said("stop", -1000)).toBe(1);
    expect(await everything(database)).not.toContain("43664123");
  });
});
