import { randomUUID } from "node:crypto";
import { SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { eventually } from "../support/eventually.ts";
import {
  countAttempts,
  countStates,
  delivered,
  expectOneEmailEach,
  readRows,
} from "../support/ledger-rows.ts";
import { depth, eventOf } from "../support/queue.ts";
import { happen, owe, registerShipment, tellEveryUpdate } from "../support/shipment.ts";

// Messages of somebody who may send to the notification queue, and has seen what others sent.

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud();
});
afterEach(() => cloud.reset());
afterAll(() => cloud.stop());

type Forged = { body: unknown; group: string };

/** Into the real queue, each with a deduplication id of its own. */
async function forge(messages: readonly Forged[]): Promise<void> {
  for (let from = 0; from < messages.length; from += 10)
    await cloud.client.send(
      new SendMessageBatchCommand({
        QueueUrl: cloud.queues.notification.url,
        Entries: messages.slice(from, from + 10).map(({ body, group }, place) => ({
          Id: String(place),
          MessageBody: JSON.stringify(body),
          MessageGroupId: group,
          MessageDeduplicationId: randomUUID(),
        })),
      }),
    );
}

const calls = () => {
  const asked: string[] = [];
  cloud.ses.faults.add((email) => void asked.push(email.to[0] ?? ""));
  return asked;
};

async function nothingIsLeft(): Promise<void> {
  const { url, deadLetters } = cloud.queues.notification;
  await eventually(async () => expect(await depth(cloud, url)).toBe(0));
  expect(await depth(cloud, deadLetters.url)).toBe(0);
}

test("ten copies of each message, in other groups and with more in them, are one email each", async () => {
  const rows = 3;
  await owe(cloud, rows);
  await cloud.sweep();
  const real = await readRows(cloud);
  const copies = real.flatMap(({ id, generation }) =>
    Array.from({ length: 10 }, (_, n) => ({
      body: {
        id,
        generation,
        address: "eve@example.org",
        to: ["eve@example.org"],
        template: "{{ x }}",
        channel: "sms",
      },
      group: n % 2 ? "one-for-all" : randomUUID(),
    })),
  );
  await forge(copies);
  const asked = calls();
  const deliver = cloud.run("deliver");
  cloud.run("deliver");
  await delivered(cloud, rows);
  await nothingIsLeft();
  expect(deliver.stats).toMatchObject({ failed: 0, errors: 0 });
  await expectOneEmailEach(cloud, rows);
  expect(asked.filter((to) => !to.includes("buyer"))).toEqual([]);
  expect((await readRows(cloud)).map(({ attempts }) => attempts)).toEqual(Array(rows).fill(1));
});

test("a forged group neither merges the groups of others nor splits one: the ledger knows whose a row is", async () => {
  await owe(cloud, 4);
  await cloud.sql`UPDATE owed.subscriber SET address = 'no address' WHERE address = 'buyer1@example.com'`;
  await cloud.sweep();
  const rows = await readRows(cloud);
  const poisonFirst = rows.toSorted((a) => (a.address === "no address" ? -1 : 1));
  const merged = poisonFirst.map(({ id, generation }) => ({ id, generation, group: "merged" }));
  const answer = await cloud.deliver(eventOf(merged));
  expect(answer.batchItemFailures, "the poison row's message alone").toHaveLength(1);
  expect(await countStates(cloud)).toEqual({ dead: 1, delivered: 3 });

  const shipment = await registerShipment(cloud);
  await tellEveryUpdate(cloud, shipment, ["customs_hold", "customs_released"]);
  await happen(cloud, shipment, "customs_hold", 20);
  await happen(cloud, shipment, "customs_released", 10);
  await cloud.sweep();
  let asked = 0;
  cloud.ses.faults.add(() => {
    asked += 1;
    return { error: { status: 503, code: "ServiceUnavailable", message: "not now" } };
  });
  const own = (await readRows(cloud)).filter((row) => row.shipment_id === shipment && row.state === "queued");
  await cloud.deliver(eventOf(own.map(({ id, generation }) => ({ id, generation, group: randomUUID() }))));
  expect(own).toHaveLength(2);
  expect(asked, "the second waits for the first").toBe(1);
  const after = (await readRows(cloud)).filter(({ id }) => own.some((row) => row.id === id));
  expect(after.map(({ status, state }) => [status, state])).toEqual([
    ["customs_hold", "queued"],
    ["customs_released", "pending"],
  ]);
});

test("a message about a follow-up that is not due yet asks the provider for nothing", async () => {
  await happen(cloud, await registerShipment(cloud), "customs_hold");
  const later = (await readRows(cloud)).find(({ template }) => template === "customs_hold.still");
  // The same event's ids are one apart: who has seen the first can guess this one.
  const answer = await cloud.deliver(eventOf([{ id: later?.id ?? "", generation: 0 }]));
  expect(answer.batchItemFailures).toEqual([]);
  expect(cloud.ses.sent).toEqual([]);
  expect(await countStates(cloud)).toEqual({ pending: 2 });
});

test("old messages, and those of ids and generations that are none, ask the provider for nothing", async () => {
  await owe(cloud, 4);
  cloud.run("deliver");
  await cloud.sweep();
  await delivered(cloud, 4);
  const done = await readRows(cloud);
  const [cancelled] = await owe(cloud, 1);
  await cloud.sql`UPDATE owed.subscriber SET opted_out_at = now() WHERE shipment_id = ${cancelled ?? ""}`;
  const asked = calls();
  const open = (await readRows(cloud)).find(({ state }) => state === "pending");
  if (!open) throw new Error("nothing is owed");
  const generations = [
    0,
    1,
    2 ** 31 - 1,
    2 ** 31,
    2 ** 53,
    -1,
    -0,
    0.5,
    1e300,
    null,
    "0",
    [0],
    { n: 0 },
    true,
  ];
  const near = (id: string) => [
    id,
    id.toUpperCase(),
    ` ${id}`,
    `${id} `,
    `${id}\u200b`,
    id.replace("0", "０"),
    `urn:uuid:${id}`,
    `${id}'--`,
    id.repeat(1_000),
  ];
  await forge([
    ...generations.map((generation, n) => ({
      body: { id: done[n % 4]?.id, generation },
      group: `g-${n % 4}`,
    })),
    ...near(open.id).map((id) => ({ body: { id, generation: 1 }, group: open.group })),
    ...near(done[0]?.id ?? "").map((id) => ({ body: { id, generation: 0 }, group: "h" })),
    { body: { id: open.id, generation: 0 }, group: "its-own" },
  ]);
  await nothingIsLeft();
  expect(asked).toEqual([]);
  expect(await countStates(cloud)).toEqual({ delivered: 4, cancelled: 1 });
  await expectOneEmailEach(cloud, 4);
  expect(
    (await readRows(cloud)).slice(0, 4).map(({ attempts, generation }) => [attempts, generation]),
  ).toEqual(Array(4).fill([1, 0]));
});

test("a message about a dead row is a redrive, whoever sent it: told as the queue's, and never of what is untrue", async () => {
  await owe(cloud, 2);
  await cloud.sql`UPDATE owed.subscriber SET address = 'no address'`;
  cloud.run("deliver");
  await cloud.sweep();
  await eventually(async () => expect(await countStates(cloud)).toEqual({ dead: 2 }));
  const [mended, untrue] = await readRows(cloud);
  await cloud.sql`UPDATE owed.subscriber SET address = 'ana@example.com'`;
  await cloud.sql`UPDATE owed.subscriber SET opted_out_at = now() WHERE shipment_id = ${untrue?.shipment_id ?? ""}`;
  const asked = calls();
  await forge([mended, untrue].map((row) => ({ body: { id: row?.id, generation: 0 }, group: "forged" })));
  await eventually(async () => expect(await countStates(cloud)).toEqual({ delivered: 1, cancelled: 1 }));
  expect(asked).toHaveLength(1);
  expect(await countAttempts(cloud)).toMatchObject({ redriven: 1, refused: 2 });
  const [told] = await cloud.sql`SELECT actor FROM owed.attempt WHERE kind = 'redriven'`;
  expect(told).toEqual({ actor: "queue" });
});
