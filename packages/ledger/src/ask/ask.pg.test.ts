import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { happen, registerShipment } from "../../../../tests/support/shipment.ts";
import { NotificationNotFound } from "../connect/errors.ts";
import { recordEvidence } from "../deliver/record-evidence.ts";
import { defaultDurations as durations } from "../durations.ts";
import { pause } from "../operate/pause.ts";
import { replay } from "../operate/replay.ts";
import { beginSweep } from "../sweep/begin-sweep.ts";
import { finishSweep } from "../sweep/finish-sweep.ts";
import { accepted, claimRow, recordOne, take } from "../testing/act.ts";
import { empty, everyShape, newRow, readRows, stateOf } from "../testing/rows.ts";
import { audit } from "./audit.ts";
import { listDelivered } from "./list-delivered.ts";
import { proveDelivery } from "./prove-delivery.ts";
import { show } from "./show.ts";
import { readStatus } from "./status.ts";
import { listStopped } from "./stopped.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const proof = {
  at: null,
  provider: "ses",
  providerMessageId: "P-2",
  outcome: "accepted",
  detail: null,
  suppress: false,
  evidence: "feedback",
  queuedAt: null,
} as const;
const act = { actor: "ann", why: "the customer called" };

describe("audit: was this customer notified, when, on what evidence", () => {
  test("lists a shipment's notifications in the order of its events, also those that were not sent and why", async () => {
    const shipment = await registerShipment(database, ["buyer", "merchant"]);
    await happen(database, shipment, "delivered", 60);
    await happen(database, shipment, "out_for_delivery", 3600);
    const [delivered] = (await readRows(database, shipment)).filter(({ state }) => state === "pending");
    await recordOne(
      database,
      delivered?.id ?? "",
      (await claimRow(database, delivered?.id ?? "")).token,
      accepted,
    );

    const answers = await audit(database.ledger, { shipmentId: shipment });
    expect(answers).toMatchObject([
      {
        status: "out_for_delivery",
        recipientId: "buyer-1",
        state: "cancelled",
        reason: "superseded",
        sentTo: null,
        deliveredAt: null,
        cancelledAt: expect.any(Date),
      },
      {
        status: "delivered",
        recipientId: "buyer-1",
        state: "delivered",
        sentTo: "buyer@example.com",
        provider: "ses",
        providerMessageId: "P-1",
        evidence: "reply",
        outcome: "accepted",
        deliveredAt: expect.any(Date),
      },
      {
        status: "delivered",
        recipientId: "merchant-1",
        state: "pending",
        template: "delivered",
        channel: "email",
        role: "merchant",
      },
    ]);
    expect(await audit(database.ledger, { shipmentId: shipment, recipientId: "merchant-1" })).toEqual([
      answers[2],
    ]);
    expect(await audit(database.ledger, { shipmentId: "S-nowhere" })).toEqual([]);
  });
});

describe("show: a notification's whole history", () => {
  test("with every try that was not clean, and what people did, in order", async () => {
    const id = await newRow(database, "queued");
    const first = await claimRow(database, id, { messageId: "M-1" });
    await recordOne(database, id, first.token, { kind: "transient", reason: "timeout" });
    const second = await claimRow(database, id, { messageId: "M-1" });
    await recordOne(database, id, second.token, { kind: "exhausted", reason: "timeout" });
    await replay(database.ledger, [id], act, "replayed");
    await take(database);
    const third = await claimRow(database, id, { generation: 1, messageId: "M-2" });
    await recordOne(database, id, third.token, accepted);
    await recordEvidence(database.ledger, [{ ...proof, id, outcome: "arrived" }]);

    const history = await show(database.ledger, id);
    expect(history).toMatchObject({
      id,
      state: "delivered",
      attempts: 3,
      generation: 1,
      onUnknown: "resend",
      outcome: "arrived",
      recordedAt: expect.any(Date),
      reason: null,
    });
    expect(history.tries).toMatchObject([
      { kind: "failed", generation: 0, messageId: "M-1", reason: "timeout", at: expect.any(Date) },
      { kind: "exhausted", generation: 0, messageId: "M-1", reason: "timeout" },
      {
        kind: "replayed",
        generation: 1,
        actor: "ann",
        reason: expect.stringMatching(/^the customer called/),
      },
      { kind: "duplicate", generation: 1, providerMessageId: "P-2" },
    ]);
  });

  test("of a clean delivery has none", async () => {
    expect((await show(database.ledger, await newRow(database, "delivered"))).tries).toEqual([]);
  });

  test("of one that is not there", async () => {
    await expect(show(database.ledger, "00000000-0000-7000-8000-000000000001")).rejects.toBeInstanceOf(
      NotificationNotFound,
    );
  });
});

describe("status", () => {
  test("of an empty ledger is all noughts", async () => {
    expect(await readStatus(database.ledger)).toMatchObject({
      owed: 0,
      oldestOwedAge: 0,
      stopped: 0,
      possibleDuplicates: 0,
      duplicates: 0,
      lastSweepAt: null,
      paused: null,
    });
  });

  test("counts each state once, what is owed and how old it is, and what waits for a person", async () => {
    for (const shape of everyShape) await newRow(database, shape);
    await newRow(database, "pending", { due_at: "now() - interval '1 hour'" });
    await newRow(database, "pending", { owed_at: "now() + interval '1 day'" });
    const status = await readStatus(database.ledger);
    const expected = [...Map.groupBy(everyShape, stateOf)].map(([state, shapes]) => [state, shapes.length]);
    expect(status.states).toEqual({ ...Object.fromEntries(expected), pending: 3 });
    expect(status).toMatchObject({ owed: 2, stopped: 3 });
    expect(status.oldestOwedAge).toBeCloseTo(3600, -1);
  });

  test("says when the last sweep ended", async () => {
    const counts = { leased: 0, published: 0, failed: 0, cancelled: 0, rescued: 0, unknown: 0, resent: 0 };
    const beginning = await beginSweep(database.ledger, durations);
    expect((await readStatus(database.ledger)).lastSweepAt).toBeNull();
    await finishSweep(database.ledger, durations, beginning.taken ? beginning.run : "0", counts, null);
    expect((await readStatus(database.ledger)).lastSweepAt).toEqual(expect.any(Date));
  });

  test("says since when the sweeps are paused, by whom and why", async () => {
    await pause(database.ledger, "ann", "the provider is down");
    expect((await readStatus(database.ledger)).paused).toEqual({
      at: expect.any(Date),
      by: "ann",
      why: "the provider is down",
    });
  });

  test("counts possible duplicates and certain ones", async () => {
    const [unknown, delivered] = [await newRow(database, "unknown"), await newRow(database, "delivered")];
    await replay(database.ledger, [unknown], act, "replayed");
    await recordEvidence(database.ledger, [{ ...proof, id: delivered }]);
    expect(await readStatus(database.ledger)).toMatchObject({ possibleDuplicates: 1, duplicates: 1 });
    expect(await proveDelivery(database.ledger)).toMatchObject({
      rows: 2,
      delivered: 1,
      unfinished: 1,
      possibleDuplicates: 1,
      duplicates: 1,
    });
    expect(await listDelivered(database.ledger)).toEqual([delivered]);
  });
});

describe("what waits for a person", () => {
  test("is listed oldest first: dead, and unknown that is held", async () => {
    for (const shape of everyShape) await newRow(database, shape);
    const older = await newRow(database, "dead", {
      stopped_at: "now() - interval '1 hour'",
      reason: "'address: no such mailbox'",
    });
    const listed = await listStopped(database.ledger, { limit: 10 });
    expect(listed.map(({ state }) => state).sort()).toEqual(["dead", "dead", "dead", "unknown"]);
    expect(listed[0]).toMatchObject({
      id: older,
      state: "dead",
      reason: "address: no such mailbox",
      attempts: 1,
      recipientId: "buyer-1",
      channel: "email",
      template: "out_for_delivery",
    });
  });

  test("is found by state, shipment, channel and the beginning of the reason, up to a limit", async () => {
    const dead = await newRow(database, "dead", { reason: "'100% wrong'" });
    const held = await newRow(database, "held");
    const [{ shipmentId } = { shipmentId: "" }] = await listStopped(database.ledger, {
      state: "unknown",
      limit: 10,
    });
    const found = async (filter: Parameters<typeof listStopped>[1]) =>
      (await listStopped(database.ledger, filter)).map(({ id }) => id);
    expect(await found({ state: "dead", limit: 10 })).toEqual([dead]);
    expect(await found({ shipmentId, limit: 10 })).toEqual([held]);
    expect(await found({ channel: "sms", limit: 10 })).toEqual([]);
    expect(await found({ reason: "100%", limit: 10 })).toEqual([dead]);
    expect(await found({ reason: "%", limit: 10 })).toEqual([]);
    expect(await found({ limit: 1 })).toHaveLength(1);
  });
});
