import { pause, resume } from "@owed/ledger";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { owe } from "../../../../tests/support/shipment.ts";
import { contextOf, startLambda, type TestLambda } from "../testing/lambda.ts";
import { captureOutput, type Output } from "../testing/output.ts";
import { countStates, empty } from "../testing/rows.ts";
import { until } from "../testing/until.ts";

let lambda: TestLambda;
let handler: typeof import("./handler.ts").handler;
let output: Output;
beforeAll(async () => {
  lambda = await startLambda();
  ({ handler } = await import("./handler.ts"));
  output = captureOutput();
});
afterEach(async () => {
  lambda.gate.open();
  lambda.ses.quota.maxSendRate = 1000;
  output.clear();
  await empty(lambda.database);
});
afterAll(async () => {
  output.restore();
  await lambda.stop();
});

/** The schedule's own event; a sweep does not read it. */
const beat = () => handler({ version: "0", source: "aws.scheduler" }, contextOf("sweep", 60));

test("its handler is none of the callback style, which Node 24 on Lambda refuses", () => {
  expect(handler.length).toBeLessThanOrEqual(2);
});

test("a beat publishes what is owed; its summary and metrics say so, without addresses", async () => {
  await owe(lambda.database, 12);
  const summary = await beat();
  expect(summary).toMatchObject({ swept: true, leased: 12, published: 12 });
  expect(await countStates(lambda.database)).toEqual({ queued: 12 });
  const count = "Count";
  expect(output.metrics()).toMatchObject({
    service: "sweep",
    names: {
      sweeps: count,
      owed: count,
      leased: count,
      published: count,
      failed: count,
      unsure: count,
      cancelled: count,
      rescued: count,
      unknown: count,
      resent: count,
      lost: count,
      oldestOwedAge: "Seconds",
      duration: "Seconds",
    },
    values: { sweeps: 1, owed: 0, leased: 12, published: 12, failed: 0, oldestOwedAge: 0 },
  });
  expect(output.lines().filter(({ level }) => level)).toMatchObject([
    { level: "INFO", service: "sweep", message: "sweep", summary: { swept: true, published: 12 } },
  ]);
  expect(output.text()).not.toMatch(/buyer|@example/);
});

test("a beat publishes what SES takes until the next one, by SES's own word, and tells how long the rest will take", async () => {
  await owe(lambda.database, 30);
  lambda.ses.quota.maxSendRate = 0.2;
  expect(await beat()).toMatchObject({ swept: true, published: 12, owed: 18, timeToDrain: 150 });
  expect(output.metrics()).toMatchObject({
    names: { timeToDrain: "Seconds" },
    values: { published: 12, owed: 18, timeToDrain: 150 },
  });
});

test("a skipped beat is told as such", async () => {
  await pause(lambda.database.ledger, "ana", null);
  expect(await beat()).toEqual({ swept: false, why: "paused" });
  expect(output.metrics()).toEqual({ service: "sweep", names: { paused: "Count" }, values: { paused: 1 } });
  await resume(lambda.database.ledger, { actor: "ana", why: null });
});

test("a beat without a database fails, and leaves what is owed", async () => {
  await owe(lambda.database, 1);
  lambda.gate.shut();
  await expect(beat()).rejects.toMatchObject({ name: "LedgerUnavailable" });
  lambda.gate.open();
  await until(async () => expect(await beat()).toMatchObject({ swept: true, published: 1 }));
});
