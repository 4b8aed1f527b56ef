import { defaultDurations as durations, markQueued, recordEvidence } from "@owed/ledger";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { happen, owe, registerShipment } from "../../../../tests/support/shipment.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { accepted, refused, scriptedChannel, throttled, transient, unknown } from "../testing/channel.ts";
import { give, handOver } from "../testing/deliveries.ts";
import { acknowledged, comesAgainIn } from "../testing/disposals.ts";
import {
  empty,
  leaseAll,
  messageFor,
  only,
  oweAndQueue,
  oweOneAndQueue,
  readRow,
  readTries,
} from "../testing/rows.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

test("the channel gets what the row is about, as the ledger has it at the claim", async () => {
  const shipment = await registerShipment(database, [], "S-request");
  const { sql } = database;
  await sql`SELECT owed.subscribe(${shipment}, 'agent-7', 'agent', 'email', 'old@example.org', 'Zoë 🚚', 'de-AT')`;
  await happen(database, shipment, "customs_hold");
  const row = only(await leaseAll(database));
  await sql`SELECT owed.subscribe(${shipment}, 'agent-7', 'agent', 'email', 'new@example.org', 'Zoë 🚚', 'de-AT')`;
  const { channel } = await give(database, [row]);
  expect(channel.calls).toEqual([
    {
      notificationId: row.id,
      template: "customs_hold",
      role: "agent",
      address: "new@example.org",
      name: "Zoë 🚚",
      locale: "de-AT",
      timeZone: null,
      shipment: {
        id: shipment,
        trackingNumber: `T-${shipment}`,
        status: "customs_hold",
        occurredAt: expect.any(Date),
      },
      merchant: { id: "M-1", name: "Shop", trackingUrl: null },
    },
  ]);
});

describe("what the provider says", () => {
  test.each([
    [
      "accepted",
      accepted("P-1"),
      1,
      acknowledged,
      { state: "delivered", attempts: 1, evidence: "reply", provider_message_id: "P-1" },
      [],
    ],
    [
      "refused",
      refused,
      1,
      comesAgainIn(0),
      { state: "dead", attempts: 1, reason: "Rejected: no such mailbox" },
      ["refused"],
    ],
    ["transient", transient, 1, comesAgainIn(5), { state: "queued", attempts: 1, generation: 0 }, ["failed"]],
    [
      "transient on the last receive",
      transient,
      5,
      comesAgainIn(0),
      { state: "dead", reason: "Down: the request was not written" },
      ["exhausted"],
    ],
    ["unknown", unknown, 5, acknowledged, { state: "unknown", attempts: 1 }, ["unknown"]],
    [
      "throttled",
      throttled,
      5,
      acknowledged,
      { state: "pending", attempts: 0, generation: 1 },
      ["throttled"],
    ],
  ])("%s", async (_, result, receives, disposal, row, tries) => {
    const queued = await oweOneAndQueue(database);
    const { disposals } = await give(database, [queued], {
      channel: scriptedChannel(() => result),
      message: { receives },
    });
    expect(disposals).toEqual([disposal]);
    expect(await readRow(database, queued.id)).toMatchObject(row);
    expect(await readTries(database, queued.id)).toEqual(tries);
  });

  test("a channel that throws: nobody knows, it is told by the row's id, and the neighbours go on", async () => {
    const [bad, good] = await oweAndQueue(database, 2);
    const channel = scriptedChannel(({ notificationId }) => {
      if (notificationId === bad?.id) throw new TypeError("ana@example.org is no address");
      return undefined;
    });
    const { disposals, onError } = await give(
      database,
      [bad, good].flatMap((row) => row ?? []),
      { channel },
    );
    expect(disposals).toEqual([acknowledged, acknowledged]);
    expect(await readRow(database, bad?.id ?? "")).toMatchObject({
      state: "unknown",
      reason: "channel_failed: TypeError",
    });
    expect(await readRow(database, good?.id ?? "")).toMatchObject({ state: "delivered" });
    expect(onError).toHaveBeenCalledExactlyOnceWith("a channel threw", expect.any(TypeError), bad?.id);
  });

  test("however often it throttles, no attempt is counted, and the row is never dead", async () => {
    await owe(database, 1);
    const [{ id } = { id: "" }] = await database.sql<{ id: string }[]>`SELECT id FROM owed.notification`;
    for (let round = 0; round < 7; round += 1) {
      const row = only(await leaseAll(database));
      await markQueued(database.ledger, durations, [row]);
      // Five receives at least: the row would have died of anything else.
      await give(database, [row], { channel: scriptedChannel(() => throttled), message: { receives: 9 } });
      expect(await readRow(database, id)).toMatchObject({
        state: "pending",
        attempts: 0,
        generation: round + 1,
      });
      await passTime(database.sql, 600);
    }
  });
});

describe("a worker that lost its row during the call", () => {
  /** A channel during whose call the send lease passes and the row goes its own way. */
  const stale = (result: Parameters<typeof scriptedChannel>[0], meanwhile: () => Promise<unknown>) =>
    scriptedChannel(async (request, call) => {
      await meanwhile();
      return result?.(request, call);
    });
  const becomesUnknown = async (id: string) => {
    await passTime(database.sql, durations.sendLease + 1);
    const other = await handOver(database.ledger, [messageFor({ id, generation: 0, group: "1" })]);
    expect(other.counts).toEqual({ unknown: 1 });
  };

  test("its acceptance is evidence: the unknown row is delivered", async () => {
    const row = await oweOneAndQueue(database);
    // The token is still its own, the state is not: the record is fenced.
    const { counts, disposals } = await handOver(database.ledger, [messageFor(row)], {
      channel: stale(undefined, () => becomesUnknown(row.id)),
    });
    expect({ counts, disposals }).toEqual({
      counts: { claimed: 1, accepted: 1, fenced: 1 },
      disposals: [acknowledged],
    });
    expect(await readRow(database, row.id)).toMatchObject({
      state: "delivered",
      evidence: "reply",
      provider_message_id: `P-${row.id}`,
    });
  });

  test("its failure changes nothing", async () => {
    const row = await oweOneAndQueue(database);
    const { counts, disposals } = await handOver(database.ledger, [messageFor(row)], {
      channel: stale(
        () => refused,
        () => becomesUnknown(row.id),
      ),
    });
    expect({ counts, disposals }).toEqual({
      counts: { claimed: 1, refused: 1, fenced: 1 },
      disposals: [acknowledged],
    });
    expect(await readRow(database, row.id)).toMatchObject({ state: "unknown" });
    expect(await leaseAll(database)).toEqual([]);
  });

  test("the provider's own event was faster: the same message, no duplicate", async () => {
    const row = await oweOneAndQueue(database);
    const proof = {
      id: row.id,
      at: null,
      provider: "test",
      providerMessageId: `P-${row.id}`,
      outcome: "accepted",
      detail: null,
      suppress: false,
      queuedAt: null,
      evidence: "feedback",
    } as const;
    const { counts } = await handOver(database.ledger, [messageFor(row)], {
      channel: stale(undefined, () => recordEvidence(database.ledger, [proof])),
    });
    expect(counts).toEqual({ claimed: 1, accepted: 1, fenced: 1 });
    expect(await readRow(database, row.id)).toMatchObject({ state: "delivered", evidence: "feedback" });
    expect(await readTries(database, row.id)).toEqual([]);
  });

  test("another worker has delivered it: its acceptance is a duplicate, and is counted", async () => {
    const row = await oweOneAndQueue(database);
    const proof = {
      id: row.id,
      at: null,
      provider: "test",
      providerMessageId: "P-other",
      outcome: "accepted",
      detail: null,
      suppress: false,
      queuedAt: null,
      evidence: "reply",
    } as const;
    const { counts, disposals } = await handOver(database.ledger, [messageFor(row)], {
      channel: stale(undefined, () => recordEvidence(database.ledger, [proof])),
    });
    expect({ counts, disposals }).toEqual({
      counts: { claimed: 1, accepted: 1, fenced: 1 },
      disposals: [acknowledged],
    });
    expect(await readRow(database, row.id)).toMatchObject({
      state: "delivered",
      provider_message_id: "P-other",
    });
    expect(await readTries(database, row.id)).toEqual(["duplicate"]);
  });
});
