import type { Channel, SendResult } from "@owed/channel";
import { parseSettings } from "@owed/functions/settings";
import { Ledger, readStatus } from "@owed/ledger";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { deliver } from "../../packages/functions/src/deliver/deliver.ts";
import { Pace } from "../../packages/functions/src/deliver/pace.ts";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { countAttempts, delivered, readRow } from "../support/ledger-rows.ts";
import { eventOf } from "../support/queue.ts";
import { owe } from "../support/shipment.ts";
import { passTime } from "../support/time.ts";

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud();
});
afterEach(() => cloud.reset());
afterAll(() => cloud.stop());

/** A worker whose provider answers when the test says so; what it tells about its batch comes last. */
async function startWorker(): Promise<{
  answer: (result: SendResult) => void;
  ended: ReturnType<typeof deliver>;
}> {
  const { id, generation } = await readRow(cloud);
  const called = Promise.withResolvers<void>();
  const { promise, resolve: answer } = Promise.withResolvers<SendResult>();
  const email: Channel = {
    name: "email",
    async send() {
      called.resolve();
      return promise;
    },
  };
  const ledger = new Ledger(cloud.options);
  const context = {
    ledger,
    channels: new Map([[email.name, email]]),
    settings: parseSettings({}),
    pace: new Pace({ workers: 1 }),
    remaining: () => 30,
    onError: () => {},
  };
  const ended = deliver(context, eventOf([{ id, generation }]).Records).finally(() => ledger.close());
  await called.promise;
  return { answer, ended };
}

/** A worker that stood still until its row was resent and is with another worker, who waits for the provider. */
async function overtake() {
  await owe(cloud, 1);
  await cloud.sweep();
  const stale = await startWorker();
  await passTime(cloud.sql, 20 * 60 + 1);
  expect(await cloud.sweep()).toMatchObject({ unknown: 1 });
  await passTime(cloud.sql, 15 * 60 + 1);
  expect(await cloud.sweep()).toMatchObject({ resent: 1, published: 1 });
  return { stale, owner: await startWorker() };
}

const accepted = (providerMessageId: string): SendResult => ({
  outcome: "accepted",
  provider: "ses",
  providerMessageId,
});
const acknowledged = [{ acknowledge: true }];
const disposals = async ({ ended }: Awaited<ReturnType<typeof startWorker>>) => [
  ...(await ended).disposals.values(),
];

test.each<SendResult>([
  { outcome: "refused", reason: "MessageRejected: no", answered: true },
  { outcome: "transient", reason: "ServiceUnavailable: later", answered: false },
  { outcome: "throttled", reason: "Throttling: slowly", retryAfterSeconds: 60, scope: "rate" },
  { outcome: "unknown", reason: "TimedOut: no answer" },
])("a stale worker's failure changes nothing: $outcome", async (failure) => {
  const { stale, owner } = await overtake();
  const before = await readRow(cloud);
  stale.answer(failure);
  expect(await disposals(stale), "the ledger owns the row").toEqual(acknowledged);
  expect(await readRow(cloud)).toEqual(before);
  expect(before).toMatchObject({ state: "sending", generation: 1, attempts: 2 });

  owner.answer(accepted("second"));
  expect(await disposals(owner)).toEqual(acknowledged);
  expect(await readRow(cloud)).toMatchObject({ state: "delivered", provider_message_id: "second" });
  expect(await countAttempts(cloud)).toEqual({ unknown: 1, resent: 1 });
});

test("its acceptance is evidence: the row is delivered, and the second acceptance counts as a duplicate", async () => {
  const { stale, owner } = await overtake();
  stale.answer(accepted("first"));
  expect(await disposals(stale)).toEqual(acknowledged);
  await delivered(cloud, 1);
  expect(await readRow(cloud)).toMatchObject({ evidence: "reply", provider_message_id: "first" });

  owner.answer(accepted("second"));
  expect(await disposals(owner)).toEqual(acknowledged);
  expect(await readRow(cloud)).toMatchObject({ state: "delivered", provider_message_id: "first" });
  expect(await readStatus(cloud.ledger)).toMatchObject({ possibleDuplicates: 1, duplicates: 1 });
});

test("an acceptance that comes while the row is unknown is evidence too, and nobody resends", async () => {
  await owe(cloud, 1);
  await cloud.sweep();
  const stale = await startWorker();
  await passTime(cloud.sql, 20 * 60 + 1);
  expect(await cloud.sweep()).toMatchObject({ unknown: 1 });
  stale.answer(accepted("first"));
  expect(await disposals(stale)).toEqual(acknowledged);
  expect(await readRow(cloud)).toMatchObject({ state: "delivered", provider_message_id: "first" });
  await passTime(cloud.sql, 60 * 60);
  expect(await cloud.sweep()).toMatchObject({ resent: 0, published: 0 });
  expect(await readStatus(cloud.ledger)).toMatchObject({ possibleDuplicates: 0, duplicates: 0 });
});
