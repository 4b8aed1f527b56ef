import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { invokeDoomed } from "../support/doomed.ts";
import { eventually } from "../support/eventually.ts";
import { countStates, delivered, expectOneEmailEach } from "../support/ledger-rows.ts";
import { depth, type Published, watchPublishes } from "../support/queue.ts";
import { owe } from "../support/shipment.ts";
import { passTime } from "../support/time.ts";

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud();
});
afterEach(() => cloud.reset());
afterAll(() => cloud.stop());

const rows = 25;

/** Sweeps in a process that is killed when SQS has accepted everything and the ledger knows of nothing. */
async function killBeforeTheMark(): Promise<Published> {
  await owe(cloud, rows);
  const published = watchPublishes(cloud);
  const never = new Promise<never>(() => {});
  const mend = cloud.sqs.faults.add(({ action }) =>
    action === "SendMessageBatch" ? { hold: never } : undefined,
  );
  const doomed = invokeDoomed(cloud, "sweep", {});
  await eventually(() => expect(published.ids).toHaveLength(rows));
  await doomed.kill();
  mend();
  expect(await countStates(cloud)).toEqual({ leased: rows });
  return published;
}

test("what a killed sweep published is swallowed when the next one publishes it again", async () => {
  const published = await killBeforeTheMark();
  expect(await cloud.sweep(), "until the dead one's time has passed").toEqual({ swept: false, why: "held" });
  await passTime(cloud.sql, 121);
  expect(await cloud.sweep()).toMatchObject({ leased: rows, published: rows, owed: 0 });

  expect(published.ids).toHaveLength(2 * rows);
  expect(new Set(published.ids).size).toBe(rows);
  expect(await depth(cloud, cloud.queues.notification.url)).toBe(rows);
  cloud.run("deliver");
  await delivered(cloud, rows);
  await expectOneEmailEach(cloud, rows);
});

test("a worker needs no mark: it delivers what a killed sweep published, and no later sweep does it again", async () => {
  await killBeforeTheMark();
  cloud.run("deliver");
  await delivered(cloud, rows);
  await passTime(cloud.sql, 121);
  expect(await cloud.sweep()).toMatchObject({ leased: 0, published: 0 });
  await expectOneEmailEach(cloud, rows);
});
