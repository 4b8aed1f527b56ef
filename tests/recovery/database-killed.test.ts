import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { Ledger, proveDelivery, registerShipment, subscribe } from "@owed/ledger";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { owedSoFar, sufferOutage } from "../../packages/local/src/drill/outage.ts";
import { prove } from "../../packages/local/src/drill/proof.ts";
import { goOn } from "../../packages/local/src/drill/stand-still.ts";
import { type Stack, startStack } from "../../packages/local/src/stack.ts";
import { eventually } from "../support/eventually.ts";
import { makeFolder } from "../support/folder.ts";
import { long } from "../support/long.ts";
import { depth, watchWaits } from "../support/queue.ts";

let folder: string;
let stack: Stack;
let ledger: Ledger;
beforeAll(async () => {
  folder = await makeFolder("killed");
  // A minute takes a second, as in the drill; but no row has to be rescued or resent meanwhile.
  stack = await startStack({
    folder,
    durable: false,
    everySeconds: 1,
    visibility: long ? 10 : 5,
    settings: {
      sweep: { budget: 8 },
      deliver: { call: 12, callBefore: 4, reserve: 1.5 },
      durations: { lease: 12, sendLease: 16, lostAfter: 120, grace: 60, heartbeat: 10, queueEmpty: 2 },
    },
  });
  ledger = new Ledger(stack.ledgerOptions);
});
afterEach(() => {
  stack.ses.faults.clear();
  stack.sqs.faults.clear();
});
afterAll(async () => {
  await ledger.close();
  await stack.stop();
  await rm(folder, { recursive: true, force: true });
});

const arrive = (shipment_id: string) =>
  stack.bus.put({
    source: "platform",
    "detail-type": "shipment.status_changed",
    detail: {
      id: randomUUID(),
      shipment_id,
      status: "out_for_delivery",
      occurred_at: new Date().toISOString(),
    },
  });

/** Events that come in each of the minutes in which the database is down. */
const arrivals = [1, 1, 1, 1, 1, 10].map((part) => part * (long ? 20 : 4));
const events = arrivals.reduce((sum, each) => sum + each);

test(`of ${events} events that arrive while the database is down for ten minutes none is lost`, async () => {
  const shipments = Array.from({ length: events }, (_, place) => `down-${place}`);
  const merchant = { id: "M-1", name: "Shop" };
  const register = async (id: string) => {
    await registerShipment(ledger, { id, trackingNumber: id, merchant });
    const buyer = { recipientId: "buyer", role: "buyer", name: null, locale: "en" } as const;
    await subscribe(ledger, { ...buyer, shipmentId: id, channel: "email", address: `${id}@example.com` });
  };
  await Promise.all(shipments.map(register));

  const waits = watchWaits(stack, "event");
  await stack.postgres.kill();
  // Minutes go by: some events come in each, and those that are there are tried again, ever more seldom.
  const scale = [10, 30, 60, 60, 60, 60];
  const expected: number[] = [];
  for (const [minute, arriving] of arrivals.entries()) {
    await waits.pass();
    await Promise.all(shipments.splice(0, arriving).map(arrive));
    for (const [age, wait] of scale.slice(0, minute + 1).entries())
      expected.push(...Array.from({ length: arrivals[minute - age] ?? 0 }, () => wait));
    await eventually(() => expect(waits.seconds).toHaveLength(expected.length));
  }
  const ascending = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b);
  expect(ascending(waits.seconds)).toEqual(ascending(expected));
  await stack.restartPostgres();
  await waits.pass();

  await eventually(async () =>
    expect(await proveDelivery(ledger)).toMatchObject({ rows: events, delivered: events }),
  );
  expect(await depth(stack, stack.queues.event.deadLetters.url)).toBe(0);
  expect(
    await prove(ledger, stack.ses.sent, { owed: events, expected: events, asked: events }),
  ).toMatchObject({
    ok: true,
    lost: 0,
    duplicates: 0,
  });
});

test("what the provider answers while the database is down is held, and recorded when it is back", async () => {
  const rows = 4;
  const before = stack.ses.sent.length;
  const sent = () => stack.ses.sent.length - before;
  const answer = Promise.withResolvers<void>();
  // Without its events the provider's answer is all that there is.
  stack.ses.faults.add(() => ({ hold: answer.promise, noEvent: true }));
  await sufferOutage({ stack, ledger, rows, seconds: 0.1, progress: () => {} });
  await goOn(stack, ledger);
  await eventually(() => expect(sent()).toBe(rows));
  await stack.postgres.kill();
  answer.resolve();
  await stack.restartPostgres();
  await eventually(async () => expect(await owedSoFar(ledger)).toBe(0));
  expect(await proveDelivery(ledger)).toMatchObject({ delivered: before + rows, possibleDuplicates: 0 });
  expect(sent()).toBe(rows);
});

test("a database that is killed in the middle of a drain: nothing is lost or double", {
  timeout: 200_000,
}, async () => {
  const rows = long ? 1500 : 300;
  const before = stack.ses.sent.length;
  const { owed } = await sufferOutage({ stack, ledger, rows, seconds: rows / 750, progress: () => {} });
  const waits = (["notification", "event", "feedback"] as const).map((name) => watchWaits(stack, name));
  // The database dies while a few emails are with the provider, whose answers get lost and whose events come late.
  const [held, dead, evidence] = [5, Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const sent = () => stack.ses.sent.length - before;
  stack.ses.faults.add(() =>
    sent() >= rows / 3 && sent() < rows / 3 + held
      ? { hold: dead.promise, drop: "after", holdEvent: evidence.promise }
      : undefined,
  );
  await goOn(stack, ledger);
  await eventually(() => expect(sent()).toBeGreaterThan(rows / 3 + held));
  await stack.postgres.kill();
  dead.resolve();
  await stack.restartPostgres();
  await eventually(async () => {
    expect((await proveDelivery(ledger)).unknown).toBeGreaterThanOrEqual(held);
  });
  evidence.resolve();

  await eventually(async () => {
    for (const { pass } of waits) await pass();
    expect(await owedSoFar(ledger)).toBe(0);
  }, 150);
  const proof = await prove(ledger, stack.ses.sent, { owed, expected: before + rows, asked: rows });
  expect(proof).toMatchObject({ ok: true, owed: rows, lost: 0, duplicates: 0, strays: 0 });
  expect(proof.delivered).toBe(before + rows);
  // What nobody could say for a while is told.
  expect(proof.unknown).toBeGreaterThanOrEqual(held);
});
