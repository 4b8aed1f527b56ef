import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createShadowQueue } from "../../../../packages/local/src/sqs/index.ts";
import { happen, registerShipment } from "../../../../tests/support/shipment.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { parseSettings } from "../settings.ts";
import { createSqsClient } from "../sqs.ts";
import { countStatements } from "../testing/statements.ts";
import { entriesOf, type Sweeping, startSweeping } from "../testing/sweeps.ts";
import { sweep } from "./sweep.ts";

let world: Sweeping;
let shadowQueueUrl: string;
const client = createSqsClient(4);
beforeAll(async () => {
  world = await startSweeping();
  shadowQueueUrl = (await createShadowQueue(client)).url;
});
beforeEach(() => world.reset());
afterAll(async () => {
  client.destroy();
  await world.stop();
});

const beat = () =>
  sweep({
    ledger: world.database.ledger,
    sqs: client,
    notificationQueueUrl: world.cloud.queues.notification.url,
    feedbackQueueUrl: world.cloud.queues.feedback.url,
    shadowQueueUrl,
    settings: parseSettings({}),
    limits: new Map(),
    remaining: () => 60,
    onError: world.onError,
  });

/** A shipment whose merchant is in this mode. */
async function shipmentIn(mode: "old" | "shadow"): Promise<string> {
  const shipment = await registerShipment(world.database);
  await world.database
    .sql`INSERT INTO owed.merchant (id, name, mode) VALUES (${mode}, 'Shop', ${mode}) ON CONFLICT DO NOTHING`;
  await world.database.sql`UPDATE owed.shipment SET merchant_id = ${mode} WHERE id = ${shipment}`;
  return shipment;
}

const shadows = () => world.database.sql`
  SELECT n.state, n.owed_at = 'infinity' AS held, n.shadow_published_at IS NOT NULL AS published, n.shadow_moot AS moot
  FROM owed.notification n ORDER BY n.id`;

const toShadow = (calls: { request: unknown }[]) =>
  entriesOf(calls.filter(({ request }) => Object(request).QueueUrl === shadowQueueUrl));

test("what is due in shadow is published as it would be, once, and no state moves; the old sender's own is not", async () => {
  await happen(world.database, await shipmentIn("shadow"), "out_for_delivery");
  await happen(world.database, await shipmentIn("old"), "out_for_delivery");
  const calls = world.cloud.calls("SendMessageBatch");
  expect(await beat()).toMatchObject({ published: 0, shadowed: 1, owed: 0 });
  expect(await beat()).toMatchObject({ published: 0, shadowed: 0 });
  const [row] = await world.database.sql<{ id: string; group: string }[]>`
    SELECT id, subscriber_id::text AS group FROM owed.notification WHERE mode = 'shadow'`;
  expect(toShadow(calls)).toMatchObject([
    {
      MessageBody: `{"id":"${row?.id}","generation":0}`,
      MessageGroupId: `subscriber-${row?.group}`,
      MessageDeduplicationId: `shipment-notif-${row?.id}`,
    },
  ]);
  expect(await shadows()).toMatchObject([
    { state: "pending", held: true, published: true, moot: null },
    { state: "pending", held: true, published: false, moot: null },
  ]);
});

test("what would not be sent has its reason, also when the old sender has sent it meanwhile", async () => {
  const shipment = await shipmentIn("shadow");
  const event = await happen(world.database, shipment, "picked_up", 60);
  await happen(world.database, shipment, "out_for_delivery");
  await world.database
    .sql`SELECT owed.old_sent('shadow', ${event}, 'buyer-1', 'email', 'picked_up', 'smtp', 'm', now())`;
  expect(await beat()).toMatchObject({ shadowed: 1 });
  expect(await shadows()).toMatchObject([
    { state: "delivered", published: false, moot: "superseded" },
    { state: "pending", published: true, moot: null },
  ]);
});

test("what SQS refuses is tried in the next sweep, and disturbs nothing else", async () => {
  await happen(world.database, await shipmentIn("shadow"), "out_for_delivery");
  await happen(world.database, await registerShipment(world.database), "out_for_delivery");
  world.cloud.sqs.faults.add(({ action, queueName }) =>
    action === "SendMessageBatch" && queueName === "shadow.fifo"
      ? { error: { status: 403, code: "AccessDenied", message: "no" } }
      : undefined,
  );
  expect(await beat()).toMatchObject({ published: 1, shadowed: 0, failed: 0 });
  expect(world.onError).toHaveBeenCalled();
  world.cloud.sqs.faults.clear();
  expect(await beat()).toMatchObject({ shadowed: 1 });
});

test("without a queue for it they wait; and a sweep with nothing in shadow asks the ledger no more than one without", async () => {
  const idle = await countStatements(world.database, () => world.swept());
  expect(await countStatements(world.database, beat)).toBe(idle);
  await happen(world.database, await shipmentIn("shadow"), "customs_hold");
  expect(await countStatements(world.database, () => world.swept())).toBe(idle);
  expect(await shadows()).toMatchObject([
    { published: false, moot: null },
    { published: false, moot: null },
  ]);
  // The follow-up is not due before its day.
  expect(await beat()).toMatchObject({ shadowed: 1 });
  await passTime(world.database.sql, 25 * 3600);
  expect(await beat()).toMatchObject({ shadowed: 1 });
});
