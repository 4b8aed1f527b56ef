import { pause, resume } from "@owed/ledger";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type Schedule, startSchedule } from "../../packages/local/src/schedule.ts";
import type { Swept } from "../../packages/local/src/stack.ts";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { eventually } from "../support/eventually.ts";
import { delivered, readRows } from "../support/ledger-rows.ts";
import { happen, owe, registerShipment } from "../support/shipment.ts";
import { passTime } from "../support/time.ts";

let cloud: Cloud;
let schedule: Schedule;
let sweeps: Swept[];
beforeAll(async () => {
  cloud = await startCloud();
});
beforeEach(() => {
  sweeps = [];
  schedule = startSchedule({
    everySeconds: 0.1,
    async run() {
      sweeps.push(await cloud.sweep());
    },
    onError: (error) => expect.unreachable(String(error)),
    log: () => {},
  });
});
afterEach(async () => {
  await schedule.stop();
  await cloud.reset();
});
afterAll(() => cloud.stop());

const hour = 3600;
const day = 24 * hour;

/** A customs hold that its buyer was told of; its follow-up is due a day later. Returns the shipment's id. */
async function holdAtCustoms(): Promise<string> {
  const shipment = await registerShipment(cloud);
  await happen(cloud, shipment, "customs_hold");
  return shipment;
}

/** No more sweeps from now on. */
async function pauseSchedule(): Promise<void> {
  schedule.pause();
  // A run that is going goes on: this one comes after it.
  await schedule.trigger();
}

/** Lets time pass while the schedule stands still. */
async function outage(seconds: number): Promise<void> {
  await pauseSchedule();
  await passTime(cloud.sql, seconds);
}

/** The first sweep after the schedule goes on. */
async function firstSweep(): Promise<Swept> {
  sweeps = [];
  schedule.resume();
  return eventually(() => {
    const [first] = sweeps;
    if (!first) throw new Error("no sweep yet");
    return first;
  });
}

const stories = async () =>
  (await readRows(cloud)).map(({ status, template, state, reason }) => ({ status, template, state, reason }));
const told = (status: string) => ({ status, template: status, state: "delivered", reason: null });

test("the first sweep after an outage sends the follow-ups that fell due meanwhile", async () => {
  cloud.run("deliver");
  for (let count = 0; count < 5; count += 1) await holdAtCustoms();
  await delivered(cloud, 5);
  await outage(day + hour);
  expect(cloud.ses.sent).toHaveLength(5);
  expect(await firstSweep()).toMatchObject({ leased: 5, published: 5, cancelled: 0, owed: 0 });
  await delivered(cloud, 10);
  expect(new Set(cloud.ses.sent.map((email) => email.tags.notification)).size).toBe(10);
});

test("a schedule that runs while the ledger is paused sends nothing, and everything afterwards", async () => {
  cloud.run("deliver");
  await pause(cloud.ledger, "ann", "the templates are being mended");
  await owe(cloud, 7);
  sweeps = [];
  await eventually(() => expect(sweeps.length).toBeGreaterThan(2));
  expect(sweeps.every((swept) => !swept.swept && swept.why === "paused")).toBe(true);
  expect(cloud.ses.sent).toEqual([]);
  await resume(cloud.ledger, { actor: "ana", why: null });
  await delivered(cloud, 7);
});

test("a follow-up whose shipment moved on meanwhile is superseded, in the event's own transaction", async () => {
  cloud.run("deliver");
  const shipment = await holdAtCustoms();
  await delivered(cloud, 1);
  await outage(day + hour);
  await happen(cloud, shipment, "customs_released");
  const before = [
    told("customs_hold"),
    { status: "customs_hold", template: "customs_hold.still", state: "cancelled", reason: "superseded" },
  ];
  expect((await stories()).slice(0, 2)).toEqual(before);
  expect(await firstSweep()).toMatchObject({ published: 1, cancelled: 0 });
  await delivered(cloud, 2);
  expect(await stories()).toEqual([...before, told("customs_released")]);
});

test("what is too late by now is expired", async () => {
  cloud.run("deliver");
  await pauseSchedule();
  await holdAtCustoms();
  await owe(cloud, 1);
  await passTime(cloud.sql, 8 * day);
  expect(await firstSweep()).toMatchObject({ leased: 0, cancelled: 3 });
  expect((await stories()).map(({ state, reason }) => [state, reason])).toEqual(
    [1, 2, 3].map(() => ["cancelled", "expired"]),
  );
  expect(cloud.ses.sent).toEqual([]);
});

test("who opted out meanwhile is not written to", async () => {
  cloud.run("deliver");
  const shipment = await holdAtCustoms();
  await delivered(cloud, 1);
  await outage(day + hour);
  await cloud.sql`SELECT owed.opt_out(${shipment}, 'buyer-1', 'email')`;
  expect(await firstSweep()).toMatchObject({ leased: 0, cancelled: 1 });
  expect(await stories()).toEqual([
    told("customs_hold"),
    { status: "customs_hold", template: "customs_hold.still", state: "cancelled", reason: "opted_out" },
  ]);
  expect(cloud.ses.sent).toHaveLength(1);
});

test("a newer status supersedes an older one that was not sent yet, as soon as it is owed", async () => {
  const mend = cloud.ses.faults.add(({ subject }) =>
    subject.includes("customs")
      ? { error: { status: 400, code: "Throttling", message: "Maximum sending rate exceeded." } }
      : undefined,
  );
  cloud.run("deliver");
  const shipment = await registerShipment(cloud);
  await happen(cloud, shipment, "customs_released", 600);
  await eventually(async () => expect((await readRows(cloud))[0]?.generation).toBe(1));
  await pauseSchedule();
  await happen(cloud, shipment, "out_for_delivery");
  expect((await stories()).map(({ state }) => state)).toEqual(["cancelled", "pending"]);
  mend();
  await passTime(cloud.sql, hour);
  expect(await firstSweep()).toMatchObject({ leased: 1, cancelled: 0 });
  await delivered(cloud, 1);
  expect(await stories()).toEqual([
    { status: "customs_released", template: "customs_released", state: "cancelled", reason: "superseded" },
    told("out_for_delivery"),
  ]);
  expect(cloud.ses.sent).toHaveLength(1);
});
