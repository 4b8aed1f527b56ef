import { pause, reportOutages, resume } from "@owed/ledger";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { delivered, statesAre } from "../support/ledger-rows.ts";
import { happen, owe, registerShipment } from "../support/shipment.ts";
import { passTime } from "../support/time.ts";

const minute = 60;
const hour = 60 * minute;

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud();
});
afterEach(() => cloud.reset());
afterAll(() => cloud.stop());

const report = () =>
  reportOutages(cloud.ledger, { since: null, until: null, gap: 3 * minute, merchant: null });

test("a paused hour: what fell due, was sent late, became too late or untrue, and that nothing is still owed", async () => {
  cloud.run("deliver");
  const held = await registerShipment(cloud);
  const released = await registerShipment(cloud);
  for (const shipment of [held, released]) await happen(cloud, shipment, "customs_hold", 23.5 * hour);
  await cloud.sweep();
  await delivered(cloud, 2);
  await pause(cloud.ledger, "ana", "the templates are being mended");

  await owe(cloud, 3);
  const optedOut = await registerShipment(cloud);
  await happen(cloud, optedOut, "picked_up");
  await cloud.sql`SELECT owed.opt_out(${optedOut}, 'buyer-1', 'email')`;
  const tooLate = await registerShipment(cloud);
  await happen(cloud, tooLate, "out_for_delivery", 23.5 * hour);
  await passTime(cloud.sql, hour + 10 * minute);
  await happen(cloud, released, "customs_released");
  expect((await report()).outages).toMatchObject([
    { to: null, pauses: [{ by: "ana" }], addsUp: true, nothingOwed: false, all: { due: 10, sent: 2 } },
  ]);

  expect(await cloud.sweep()).toEqual({ swept: false, why: "paused" });
  await resume(cloud.ledger, { actor: "ana", why: null });
  await cloud.sweep();
  await statesAre(cloud, { delivered: 7, cancelled: 3 });
  const { outages, addsUp, nothingOwed } = await report();
  expect([addsUp, nothingOwed, outages.length]).toEqual([true, true, 1]);
  expect(outages[0]).toMatchObject({
    seconds: expect.closeTo(hour + 10 * minute, -1),
    pauses: [{ by: "ana", why: "the templates are being mended", resumedAt: expect.any(Date) }],
    // Late: three, and the follow-up of the one that is still held. Not late: what was on its way when it began, and what came last.
    all: {
      due: 10,
      sent: 7,
      expired: 1,
      superseded: 1,
      optedOut: 1,
      dead: 0,
      stillOwed: 0,
      lateByMinutes: 4,
    },
    stillOwed: [],
  });
  expect(outages[0]?.recovery).toBeLessThan(minute);
});
