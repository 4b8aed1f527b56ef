import { defaultDurations as durations, recordEvidence } from "@owed/ledger";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { refused, scriptedChannel } from "../testing/channel.ts";
import { handOver } from "../testing/deliveries.ts";
import { acknowledged } from "../testing/disposals.ts";
import { empty, leaseAll, messageFor, oweOneAndQueue, readRow, readTries } from "../testing/rows.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

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
