import { cancel, resolveAsSent, show } from "@owed/ledger";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { eventually } from "../support/eventually.ts";
import { delivered, expectOneEmailEach, readRow, statesAre } from "../support/ledger-rows.ts";
import { depth, peek, redrive, type Waits, watchWaits } from "../support/queue.ts";
import { owe } from "../support/shipment.ts";

let cloud: Cloud;
beforeAll(async () => {
  // Rows that die by themselves are meant here: their provider's breaker stays out of it.
  cloud = await startCloud({ settings: { channel: { failures: 1000 } } });
});
afterEach(() => cloud.reset());
afterAll(() => cloud.stop());

const rejected = { status: 400, code: "MessageRejected", message: "Address blacklisted." };
const unavailable = { status: 503, code: "ServiceUnavailable", message: "Try later." };

/** A provider that answers each email with an error; counts its calls. */
function breakProvider(error: { status: number; code: string; message: string }) {
  const provider = { calls: 0, mend: () => {} };
  provider.mend = cloud.ses.faults.add(() => {
    provider.calls += 1;
    return { error };
  });
  return provider;
}

/** Owes one row and waits until its message is in the dead-letter queue, where SQS's own redrive policy put it. */
async function die(error: { status: number; code: string; message: string }) {
  const provider = breakProvider(error);
  const waits = watchWaits(cloud, "notification", { hurried: true });
  cloud.run("deliver");
  await owe(cloud, 1);
  await cloud.sweep();
  await deadLettered();
  return { provider, waits, row: await readRow(cloud) };
}

async function deadLettered(): Promise<void> {
  const { url, deadLetters } = cloud.queues.notification;
  await eventually(async () => expect(await depth(cloud, deadLetters.url)).toBe(1));
  expect(await depth(cloud, url)).toBe(0);
  const { id, generation } = await readRow(cloud);
  expect(await peek(cloud, deadLetters.url)).toEqual([{ id, generation }]);
}

/** Nothing waits anywhere: what came back was acknowledged. */
const queuesAreEmpty = () =>
  eventually(async () => {
    const { url, deadLetters } = cloud.queues.notification;
    expect(await depth(cloud, url)).toBe(0);
    expect(await depth(cloud, deadLetters.url)).toBe(0);
  });

test("a refused row is dead with its reason after one call, and its message in the dead-letter queue", async () => {
  const { provider, row, waits } = await die(rejected);
  expect(row).toMatchObject({ state: "dead", attempts: 1, reason: "MessageRejected: Address blacklisted." });
  expect(provider.calls).toBe(1);
  // The other receives only lead it out of the queue, without a wait.
  expect(waits.seconds).toEqual([0, 0, 0, 0, 0]);
});

test("an exhausted row is dead after five calls, each later than the one before", async () => {
  const { provider, row, waits } = await die(unavailable);
  expect(row).toMatchObject({ state: "dead", attempts: 5, reason: "ServiceUnavailable: Try later." });
  expect(provider.calls).toBe(5);
  expect(waits.seconds).toEqual([5, 20, 60, 120, 0]);
  expect((await show(cloud.ledger, row.id)).tries.map(({ kind }) => kind)).toEqual([
    ...["failed", "failed", "failed", "failed", "exhausted"],
  ]);
});

test.each([
  ["refused", rejected],
  ["exhausted", unavailable],
])("a redrive of a %s row delivers it once its cause is mended", async (_, error) => {
  const { provider, row } = await die(error);
  provider.mend();
  await redrive(cloud);
  await delivered(cloud, 1);
  await queuesAreEmpty();
  await expectOneEmailEach(cloud, 1);
  expect(await readRow(cloud)).toMatchObject({ generation: 0, reason: null });
  const { tries } = await show(cloud.ledger, row.id);
  expect(tries.at(-1)).toMatchObject({ kind: "redriven", actor: "queue" });
});

test.each<[string, (id: string) => Promise<void>]>([
  ["delivered", (id) => resolveAsSent(cloud.ledger, id, { actor: "ann", why: "the buyer has it" })],
  ["cancelled", (id) => cancel(cloud.ledger, id, { actor: "ann", why: "no longer wanted" })],
])("a redriven message of a row that is %s by now is acknowledged without a send", async (state, end) => {
  const { provider, row } = await die(rejected);
  provider.mend();
  await end(row.id);
  await redrive(cloud);
  await queuesAreEmpty();
  expect(await readRow(cloud)).toMatchObject({ state, attempts: 1 });
  expect(cloud.ses.sent).toEqual([]);
});

test.each<[string, (waits: Waits) => void]>([
  ["refused", (waits) => expect(waits.seconds.slice(5)).toEqual([0, 0, 0, 0, 0])],
  ["exhausted", (waits) => expect(waits.seconds.slice(5)).toEqual([5, 20, 60, 120, 0])],
])(
  "a row that is %s again after a redrive is dead-lettered again, and can be redriven again",
  async (kind, expectWaits) => {
    const { provider, waits } = await die(kind === "refused" ? rejected : unavailable);
    await redrive(cloud);
    await eventually(() => expect(waits.seconds).toHaveLength(10));
    await deadLettered();
    await statesAre(cloud, { dead: 1 });
    expectWaits(waits);
    expect(provider.calls).toBe(kind === "refused" ? 2 : 10);

    provider.mend();
    await redrive(cloud);
    await delivered(cloud, 1);
    await queuesAreEmpty();
    await expectOneEmailEach(cloud, 1);
  },
);
