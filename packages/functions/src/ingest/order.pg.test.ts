import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { registerShipment, tellEveryUpdate } from "../../../../tests/support/shipment.ts";
import { passTime } from "../../../../tests/support/time.ts";
import type { SqsFault } from "../../../local/src/sqs/index.ts";
import { parseSettings } from "../settings.ts";
import { bodyOf } from "../testing/events.ts";
import { take } from "../testing/ingestions.ts";
import { recordOf } from "../testing/records.ts";
import { publishedIds, type Sweeping, startSweeping } from "../testing/sweeps.ts";

// What ingest could not publish is a sweep's, and nothing that came after it in its group goes before it.

let world: Sweeping;
let shipment: string;
beforeAll(async () => {
  world = await startSweeping();
});
beforeEach(async () => {
  await world.reset();
  shipment = await registerShipment(world.database);
  await tellEveryUpdate(world.database, shipment, ["out_for_delivery"]);
  // The first beat.
  await world.swept();
});
afterAll(() => world.stop());

const event = (secondsAgo: number) => {
  const occurred_at = new Date(Date.now() - secondsAgo * 1000).toISOString();
  return recordOf(bodyOf({ shipment_id: shipment, status: "out_for_delivery", occurred_at }));
};
const ingest = (...records: ReturnType<typeof event>[]) =>
  take(world.database.ledger, records, () => 30, {
    sqs: world.sqs,
    notificationQueueUrl: world.cloud.queues.notification.url,
    settings: parseSettings({}),
  });
const inOrder = async () =>
  (await world.database.sql<{ id: string }[]>`SELECT id FROM owed.notification ORDER BY id`).map(
    ({ id }) => id,
  );
const refused: SqsFault = { failed: () => ({ code: "InternalError", message: "x" }) };

test.each([
  ["refused, and a newer event comes", refused, false],
  ["refused, and a newer event is in the same batch", refused, true],
  ["not answered for, and its lease runs out", { drop: "before" } as const, true],
])("an older row %s: they go in their order", async (_, fault, together) => {
  const remove = world.cloud.fail("SendMessageBatch", fault);
  const { counts } = await (together ? ingest(event(2), event(1)) : ingest(event(2)));
  expect(counts).toMatchObject({ published: 0, failed: 1 });
  remove();
  const calls = world.cloud.calls("SendMessageBatch");
  if (!together) expect((await ingest(event(1))).counts).toMatchObject({ recorded: 1, published: 0 });
  await passTime(world.database.sql, 1);
  expect(await world.swept()).toMatchObject({ published: 0 });
  await passTime(world.database.sql, 121);
  expect(await world.swept()).toMatchObject({ published: 2 });
  expect(publishedIds(calls)).toEqual(await inOrder());
});
