import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { countStates, delivered, expectOneEmailEach, readRows } from "../support/ledger-rows.ts";
import { depth, watchPublishes } from "../support/queue.ts";
import { owe } from "../support/shipment.ts";
import { passTime } from "../support/time.ts";

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud();
});
afterEach(() => cloud.reset());
afterAll(() => cloud.stop());

const rows = 12;

/** A sweep whose calls get no answer: its rows stay leased. */
async function sweepUnanswered(drop: "before" | "after"): Promise<void> {
  const mend = cloud.sqs.faults.add(({ action }) => (action === "SendMessageBatch" ? { drop } : undefined));
  expect(await cloud.sweep()).toMatchObject({ leased: rows, published: 0, unsure: rows, failed: 0 });
  mend();
  expect(await countStates(cloud)).toEqual({ leased: rows });
}

test.each(["before", "after"] as const)(
  "a lease that ran out is owed again (connection lost %s SQS saw the call)",
  async (drop) => {
    await owe(cloud, rows);
    await sweepUnanswered(drop);
    expect(await depth(cloud, cloud.queues.notification.url)).toBe(drop === "before" ? 0 : rows);

    expect(await cloud.sweep(), "while the lease lives").toMatchObject({ leased: 0 });
    await passTime(cloud.sql, 121);
    const published = watchPublishes(cloud);
    expect(await cloud.sweep()).toMatchObject({ leased: rows, published: rows, owed: 0 });

    // The same id as before: what the queue already has it does not take again.
    expect(published.ids.toSorted()).toEqual(
      (await readRows(cloud)).map(({ id }) => `shipment-notif-${id}`).toSorted(),
    );
    expect(await depth(cloud, cloud.queues.notification.url)).toBe(rows);
    cloud.run("deliver");
    await delivered(cloud, rows);
    await expectOneEmailEach(cloud, rows);
  },
);
