import { randomUUID } from "node:crypto";
import { readdir, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import postgres from "postgres";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type Stage, stages } from "../../infra/bundle.ts";
import { type Bundle, makeBundles } from "../../infra/bundles/make.ts";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { makeFolder } from "../support/folder.ts";
import { readRow } from "../support/ledger-rows.ts";
import { registerShipment } from "../support/shipment.ts";
import { consume, scheduleEvent, shipmentEvent } from "./events.ts";
import { type Lambda, startLambda } from "./lambda.ts";

let cloud: Cloud;
/** Outside of the repository: none of its packages can be found from there. */
let folder: string;
let bundles: Bundle[];
const running: Lambda[] = [];

beforeAll(async () => {
  folder = await makeFolder("bundles");
  [cloud, bundles] = await Promise.all([startCloud(), makeBundles(folder)]);
});
afterAll(async () => {
  await Promise.all(running.map((lambda) => lambda.stop()));
  await cloud.stop();
  await rm(folder, { recursive: true, force: true });
});

async function start(stage: Stage, more: Record<string, string> = {}): Promise<Lambda> {
  const { POWERTOOLS_METRICS_DISABLED: _, ...environment } = cloud.environment;
  const lambda = await startLambda({
    stage,
    folder: join(folder, stage),
    environment: { ...environment, POWERTOOLS_LOG_LEVEL: "INFO", ...more },
  });
  running.push(lambda);
  return lambda;
}

test("every function keeps to its budget", () => {
  expect(bundles.map(({ stage }) => stage)).toEqual([...stages]);
  expect(bundles.flatMap(({ faults }) => faults)).toEqual([]);
});

test("beside each lie RDS's authorities, and beside migrate the migrations", async () => {
  const files = async (stage: Stage) => (await readdir(join(folder, stage))).toSorted();
  expect(await files("migrate")).toEqual(["bundle.mjs", "migrations", "rds-ca.pem"]);
  for (const { stage, bytes } of bundles.filter((bundle) => bundle.stage !== "migrate")) {
    expect(await files(stage)).toEqual(["bundle.mjs", "rds-ca.pem"]);
    expect((await stat(join(folder, stage, "bundle.mjs"))).size).toBe(bytes);
  }
});

test("the repository's packages cannot be found from an artefact's folder", () => {
  const { resolve } = createRequire(join(folder, "ingest", "bundle.mjs"));
  for (const name of ["valibot", "@aws-sdk/client-sqs", "@owed/ledger"])
    expect(() => resolve(name)).toThrow("Cannot find module");
});

test("an event becomes an email and the provider's event its outcome, by the artefacts alone", async () => {
  const { client, queues, ses, bus } = cloud;
  const done = { answer: { batchItemFailures: [] } };
  const mend = ses.faults.add(() => ({ fate: { kind: "bounce" } }));
  const shipment = await registerShipment(cloud);
  await bus.put(shipmentEvent(shipment));

  const ingest = await start("ingest");
  expect(await consume(client, queues.event, ingest.invoke)).toMatchObject(done);
  expect(await readRow(cloud)).toMatchObject({ state: "pending", shipment_id: shipment });

  const sweep = await start("sweep");
  const swept = { swept: true, owed: 0, published: 1 };
  expect(await sweep.invoke(scheduleEvent())).toMatchObject({ answer: swept });

  const deliver = await start("deliver");
  expect(await consume(client, queues.notification, deliver.invoke)).toMatchObject(done);
  const row = await readRow(cloud);
  expect(row).toMatchObject({ state: "delivered", evidence: "reply", outcome: "accepted" });
  expect(ses.sent).toMatchObject([
    {
      to: ['"buyer" <buyer@example.com>'],
      tags: { notification: row.id },
      messageId: row.provider_message_id,
    },
  ]);

  const feedback = await start("feedback");
  while ((await readRow(cloud)).outcome !== "bounced")
    expect(await consume(client, queues.feedback, feedback.invoke)).toMatchObject(done);
  mend();

  for (const lambda of [ingest, sweep, deliver, feedback]) {
    expect(lambda.output(), "metrics, as CloudWatch reads them").toContain('"CloudWatchMetrics"');
    expect(lambda.output()).not.toContain("buyer@example.com");
  }
});

test("migrate brings an empty database to the newest schema, from the folder that it is in", async () => {
  const cluster = inject("cluster");
  const database = `test_${randomUUID().replaceAll("-", "")}`;
  const admin = postgres({ ...cluster, database: "postgres", max: 1, onnotice: () => {} });
  await admin`CREATE DATABASE ${admin(database)}`;
  try {
    const link = { ...JSON.parse(cloud.environment.SST_RESOURCE_Database ?? ""), database };
    const migrate = await start("migrate", { SST_RESOURCE_Database: JSON.stringify(link) });
    const files = await readdir(fileURLToPath(new URL("../../migrations", import.meta.url)));
    const migrations = files.filter((file) => /^\d+\.do\..+\.sql$/.test(file));
    const { answer } = await migrate.invoke({});
    expect(answer).toMatchObject({ applied: { length: migrations.length } });
    expect((await migrate.invoke({})).answer).toEqual({ applied: [] });
    await migrate.stop();
  } finally {
    await admin`DROP DATABASE ${admin(database)} WITH (FORCE)`;
    await admin.end();
  }
});
