import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { happen, registerShipment } from "../../../tests/support/shipment.ts";
import { passTime } from "../../../tests/support/time.ts";
import { listSuppressions } from "./ask/suppressions.ts";
import { NotAllowed } from "./connect/errors.ts";
import { Ledger } from "./connect/ledger.ts";
import { type Proof, recordEvidence } from "./deliver/record-evidence.ts";
import { liftSuppression } from "./operate/lift-suppression.ts";
import { replay } from "./operate/replay.ts";
import { sendAgain } from "./operate/send-again.ts";
import { claimRow, proofOf, receive, take } from "./testing/act.ts";
import { race } from "./testing/race.ts";
import { empty, newRow, readRow, readRows, reshape, type Shape } from "./testing/rows.ts";

// An address that a message bounced from, or whose owner complained, is not written to any more. All the tests' rows
// go to buyer@example.com.

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const act = { actor: "ann", why: "the mailbox is back" };
const bounced = { outcome: "bounced", detail: "bounced: General", suppress: true } as const;
const weigh = (...proofs: Proof[]) => recordEvidence(database.ledger, proofs);
const list = (address?: string) => listSuppressions(database.ledger, { address, lifted: true, limit: 10 });
const lift = (address = "buyer@example.com", channel = "email") =>
  liftSuppression(database.ledger, { channel, address }, act);
/** A delivered message to the tests' address bounces, now or at a time. */
async function bounce(at: string | null = null): Promise<string> {
  const id = await newRow(database, "delivered");
  expect(await weigh(proofOf(id, { ...bounced, at }))).toMatchObject([{ id, suppressed: true }]);
  return id;
}
const moveTo = (id: string, address: string | null) =>
  database.sql`
    UPDATE owed.subscriber SET address = ${address} WHERE id = (SELECT subscriber_id FROM owed.notification WHERE id = ${id})`;

describe("a bounce or a complaint", () => {
  test.each(["bounced", "complained"] as const)(
    "suppresses the address, and names its notification: %s",
    async (outcome) => {
      const id = await newRow(database, "sending");
      const proof = proofOf(id, { outcome, detail: `${outcome}: x`, suppress: true });
      expect(await weigh(proof)).toEqual([{ id, result: "proven", duplicate: false, suppressed: true }]);
      expect(await list()).toEqual([
        {
          channel: "email",
          address: "buyer@example.com",
          cause: outcome,
          detail: `${outcome}: x`,
          notificationId: id,
          suppressedAt: expect.any(Date),
          lifted: null,
        },
      ]);
      expect(await weigh(proof), "once more").toMatchObject([{ result: "known", suppressed: false }]);
      expect(await list()).toHaveLength(1);
    },
  );

  test("that will pass suppresses nothing", async () => {
    await weigh(proofOf(await newRow(database, "delivered"), { ...bounced, suppress: false }));
    expect(await list()).toEqual([]);
  });

  test("suppresses the address that was written to, not the one that stands there now", async () => {
    const id = await newRow(database, "queued");
    await claimRow(database, id);
    await moveTo(id, "new@example.com");
    await weigh(proofOf(id, bounced));
    expect(await list()).toMatchObject([{ address: "buyer@example.com" }]);
  });

  test("of one without any address suppresses nothing", async () => {
    const id = await newRow(database, "unknown");
    await moveTo(id, null);
    expect(await weigh(proofOf(id, bounced))).toMatchObject([{ result: "proven", suppressed: false }]);
  });

  test("of two rows to one address in one statement: suppressed once, told by one", async () => {
    const rows = [await newRow(database, "delivered"), await newRow(database, "unknown")].sort();
    await moveTo(rows[1] ?? "", " BUYER@example.com ");
    const weighed = await weigh(...rows.map((id) => proofOf(id, bounced)));
    expect(weighed.filter(({ suppressed }) => suppressed)).toHaveLength(1);
    expect(await list()).toHaveLength(1);
    for (const id of rows) expect(await readRow(database, id)).toMatchObject({ outcome: "bounced" });
  });

  test("in two statements with the same addresses: neither waits for the other in a circle", async () => {
    const to = async (address: string) => {
      const id = await newRow(database, "delivered");
      await moveTo(id, address);
      return proofOf(id, bounced);
    };
    const first = [await to("a@x"), await to("b@x"), await to("c@x")];
    const second = [await to("c@x"), await to("a@x")];
    const id = await newRow(database, "delivered");
    const lock = `INSERT INTO owed.suppression (channel, address, cause, notification_id) VALUES ('email', 'b@x', 'bounced', '${id}')`;
    const ledgers = [1, 2].map(
      () => new Ledger({ ...database.options, connections: 1, applicationName: "circle" }),
    );
    // The first has taken a, and waits for b; the second must not have c by then.
    const [one, other] = await race(
      database,
      lock,
      [first, second].map((proofs, place) => () => recordEvidence(ledgers[place] ?? database.ledger, proofs)),
    );
    expect(one?.map(({ suppressed }) => suppressed)).toEqual([true, false, true]);
    expect(other?.map(({ suppressed }) => suppressed)).toEqual([false, false]);

    // A deadlock is told once the session that met it has ended; the ledger tries such a statement again.
    await Promise.all(ledgers.map((ledger) => ledger.close()));
    await vi.waitFor(async () =>
      expect(await database.sql`SELECT FROM pg_stat_activity WHERE application_name = 'circle'`).toEqual([]),
    );
    expect(
      await database.sql`SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()`,
    ).toEqual([{ deadlocks: 0 }]);
  });
});

describe("a suppressed address", () => {
  beforeEach(() => bounce());

  test.each([
    ["as it is", "buyer@example.com"],
    ["in other letters", "Buyer@EXAMPLE.com"],
  ])("is not written to: its notification is cancelled at fan-out, %s", async (_, address) => {
    const shipment = await registerShipment(database, ["buyer", "merchant"]);
    await database.sql`SELECT owed.subscribe(${shipment}, 'buyer-1', 'buyer', 'email', ${address})`;
    await happen(database, shipment, "delivered");
    expect(await readRows(database, shipment)).toMatchObject([
      { state: "cancelled", reason: "suppressed", owed_at: null, cancelled_at: expect.any(Date) },
      { state: "pending", reason: null },
    ]);
  });

  test("is not in the way of another channel, nor of another address", async () => {
    const shipment = await registerShipment(database);
    await database.sql`SELECT owed.subscribe(${shipment}, 'buyer-1', 'buyer', 'sms', 'buyer@example.com')`;
    await database.sql`SELECT owed.subscribe(${shipment}, 'buyer-2', 'buyer', 'email', 'buyer2@example.com')`;
    await happen(database, shipment, "out_for_delivery");
    const rows = await readRows(database, shipment);
    expect(rows.filter(({ state }) => state === "cancelled")).toHaveLength(1);
    const slice = await take(database, { shares: ["email", "sms"].map((channel) => ({ channel, most: 9 })) });
    expect(slice.leased).toHaveLength(2);
    for (const { id } of slice.leased)
      expect(await receive(database, id)).toMatchObject({ verdict: "claimed" });
  });
});

describe("a row that was owed before its address was suppressed", () => {
  /** A row that the suppression finds in some shape. */
  async function owedBefore(shape: Shape): Promise<string> {
    const id = await newRow(database, "pending");
    await moveTo(id, "BUYER@Example.com");
    await bounce();
    await reshape(database, id, shape);
    return id;
  }

  test("is cancelled when a sweep leases it", async () => {
    const id = await owedBefore("pending");
    expect(await take(database)).toMatchObject({ leased: [], cancelled: 1 });
    expect(await readRow(database, id)).toMatchObject({ state: "cancelled", reason: "suppressed" });
  });

  test.each<Shape>(["pending", "leased", "queued", "dead"])(
    "is cancelled when a worker claims it: %s",
    async (shape) => {
      const id = await owedBefore(shape);
      expect(await receive(database, id, { sentAt: Date.now() + 60_000 })).toEqual({ verdict: "cancelled" });
      expect(await readRow(database, id)).toMatchObject({ state: "cancelled", reason: "suppressed" });
    },
  );

  test("is not replayed, and says why", async () => {
    const id = await owedBefore("dead");
    expect(await replay(database.ledger, [id], act, "replayed")).toEqual({
      ids: [],
      moot: new Map([[id, "suppressed"]]),
    });
  });

  test("is not sent again, although a person wants the older text", async () => {
    const again = await sendAgain(database.ledger, await bounce(), act);
    expect(await take(database)).toMatchObject({ leased: [], cancelled: 1 });
    expect(await readRow(database, again)).toMatchObject({ state: "cancelled", reason: "suppressed" });
  });
});

describe("a suppression that is lifted", () => {
  test("stays for the record; the address is written to again, and what was cancelled stays so", async () => {
    await bounce();
    const cancelled = await newRow(database, "cancelled");
    await lift(" Buyer@example.COM");
    expect(await listSuppressions(database.ledger, { lifted: false, limit: 10 })).toEqual([]);
    expect(await list("BUYER@example.com")).toMatchObject([
      { lifted: { at: expect.any(Date), by: "ann", why: "the mailbox is back" } },
    ]);
    expect(await list("other@example.com")).toEqual([]);
    const id = await newRow(database);
    expect(await take(database)).toMatchObject({ leased: [{ id }] });
    expect(await readRow(database, cancelled)).toMatchObject({ state: "cancelled" });
  });

  test("does not come back by what was sent before, but by what was sent after", async () => {
    const at = new Date().toISOString();
    const id = await bounce(at);
    await lift();
    await passTime(database.sql, 60);
    const before = new Date(Date.now() - 90_000).toISOString();
    expect(await weigh(proofOf(id, { ...bounced, at: before }))).toMatchObject([{ suppressed: false }]);
    const other = await newRow(database, "delivered");
    expect(await weigh(proofOf(other, { ...bounced, at: before }))).toMatchObject([{ suppressed: false }]);
    expect(await weigh(proofOf(other, { ...bounced, at: new Date().toISOString() }))).toMatchObject([
      { suppressed: true },
    ]);
    expect(await list()).toMatchObject([{ notificationId: other, lifted: null }, { notificationId: id }]);
  });

  test("is refused when the address is not suppressed there", async () => {
    await expect(lift()).rejects.toBeInstanceOf(NotAllowed);
    await bounce();
    await expect(lift("buyer@example.com", "sms")).rejects.toBeInstanceOf(NotAllowed);
    await lift();
    await expect(lift()).rejects.toBeInstanceOf(NotAllowed);
  });
});

test("an address is the same however it is written; a plus sign makes no telephone number of it", async () => {
  const keyOf = async (address: string) => {
    const [row] = await database.sql<{ key: string }[]>`SELECT owed.address_key(${address}) AS key`;
    return row?.key;
  };
  expect(await keyOf(" Ana+News@Example.com ")).toBe("ana+news@example.com");
  expect(await keyOf(" +49 (1512) 345-678")).toBe("+491512345678");
});
