import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { countStates, delivered, expectOneEmailEach, readRow, statesAre } from "../support/ledger-rows.ts";
import { owe } from "../support/shipment.ts";

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud();
});
afterEach(() => cloud.reset());
afterAll(() => cloud.stop());

/** SQS has the messages, the sweep does not know yet. */
function holdSweep(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  cloud.sqs.faults.add(({ action }) => (action === "SendMessageBatch" ? { hold: promise } : undefined));
  return resolve;
}

test("a delivery that was faster than the sweep's mark stays one", async () => {
  const letSweepKnow = holdSweep();
  cloud.run("deliver");
  await owe(cloud, 3);
  const swept = cloud.sweep();
  await delivered(cloud, 3);
  letSweepKnow();
  expect(await swept).toMatchObject({ published: 3, fenced: 3 });
  expect(await countStates(cloud)).toEqual({ delivered: 3 });
  await expectOneEmailEach(cloud, 3);
});

test("a row that is being sent when the sweep's mark comes stays with its worker", async () => {
  const letSweepKnow = holdSweep();
  const answer = Promise.withResolvers<void>();
  cloud.ses.faults.add(() => ({ hold: answer.promise }));
  cloud.run("deliver");
  await owe(cloud, 1);
  const swept = cloud.sweep();
  await statesAre(cloud, { sending: 1 });
  letSweepKnow();
  expect(await swept).toMatchObject({ published: 1, fenced: 1 });
  expect(await readRow(cloud)).toMatchObject({ state: "sending" });
  answer.resolve();
  await delivered(cloud, 1);
  await expectOneEmailEach(cloud, 1);
});
