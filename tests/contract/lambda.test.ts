import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { bodyOf } from "../../packages/functions/src/testing/events.ts";
import { recordOf } from "../../packages/functions/src/testing/records.ts";
import {
  countStates,
  empty,
  messageFor,
  oweAndQueue,
  oweGroupAndQueue,
} from "../../packages/functions/src/testing/rows.ts";
import { sesEvent } from "../../packages/functions/src/testing/ses-events.ts";
import { type FunctionName, type FunctionProcess, startFunction } from "../support/function-process.ts";
import { owe, registerShipment } from "../support/shipment.ts";
import { type Setting, startSetting } from "./setting.ts";

// What AWS Lambda does to a function, whatever the function is: each in a process of its own, by its real handler.

const names = ["ingest", "sweep", "deliver", "feedback", "migrate"] as const;

let setting: Setting;
let functions: Record<FunctionName, FunctionProcess>;
beforeAll(async () => {
  setting = await startSetting({ deliver: { call: 1, reserve: 2 } });
  const { environment } = setting;
  const started = names.map(async (name) => [name, await startFunction(name, { environment })]);
  functions = Object.fromEntries(await Promise.all(started));
});
afterEach(async () => {
  setting.network.cut();
  setting.ses.faults.clear();
  setting.ses.clear();
  await empty(setting);
});
afterAll(async () => {
  await Promise.all(Object.values(functions).map((one) => one.kill()));
  await setting.stop();
});

const done = { batchItemFailures: [] };
const wasDone: Record<FunctionName, unknown> = {
  ...{ ingest: done, deliver: done, feedback: done },
  ...{ sweep: expect.objectContaining({ swept: true, published: 1 }), migrate: { applied: [] } },
};

/** An event that has the function do one thing. */
const work: Record<FunctionName, () => Promise<object>> = {
  async ingest() {
    return { Records: [recordOf(bodyOf({ shipment_id: await registerShipment(setting) }))] };
  },
  async sweep() {
    await owe(setting, 1);
    return { version: "0", source: "aws.scheduler" };
  },
  async deliver() {
    return { Records: (await oweAndQueue(setting, 1)).map((row) => messageFor(row)) };
  },
  async feedback() {
    const [row] = await oweAndQueue(setting, 1);
    return { Records: [recordOf(JSON.stringify(sesEvent(row?.id ?? "")))] };
  },
  async migrate() {
    return {};
  },
};

describe("what AWS may add at any time harms nobody", () => {
  test.each(names)("%s: unknown fields in its event, its records and its context", async (name) => {
    const event = await work[name]();
    const unknown = { isNew: true, of: { any: ["kind"] } };
    const records = "Records" in event && Array.isArray(event.Records) ? event.Records : null;
    const Records = records?.map((record: object) => ({ ...record, unknown }));
    const more = { ...event, ...(Records && { Records }), unknown };
    const context = { unknown, tenantId: "t", xRayTraceId: "1-2-3" };
    expect(await functions[name].invoke(more, { context })).toEqual(wasDone[name]);
  });
});

describe("a container that was frozen", () => {
  /** Both do what must not be done twice before they know anything: no statement of theirs may simply be repeated. */
  const firm = ["sweep", "deliver"] as const;
  test.each(
    firm.flatMap((name) => [
      { name, seconds: 5, loss: "the server has closed", lose: () => setting.network.hangUp() },
      { name, seconds: 600, loss: "a NAT has forgotten", lose: async () => setting.network.forget() },
    ]),
  )(
    "$name, for $seconds s: its next invocation does not mind that $loss its connections",
    async ({ name, seconds, lose }) => {
      const process = functions[name];
      expect(await process.invoke(await work[name]())).toEqual(wasDone[name]);
      const event = await work[name]();
      process.freeze();
      await lose();
      process.thaw();
      expect(await process.invoke(event, { frozenFor: seconds })).toEqual(wasDone[name]);
    },
  );
});

test("deliver runs out of time in the middle of its batch: what was sent is recorded, and the rest comes again, once", async () => {
  const rows = await oweGroupAndQueue(setting, 10);
  setting.ses.faults.add(() => ({ delay: 350 }));
  const event = { Records: rows.map((row) => messageFor(row)) };
  expect(await functions.deliver.invoke(event, { timeoutSeconds: 5 })).toEqual(done);
  const { delivered = 0, ...others } = await countStates(setting);
  expect(delivered).toBeGreaterThan(0);
  expect(delivered).toBeLessThan(7);
  expect(others).toEqual({ pending: 10 - delivered });
  expect(setting.ses.sent).toHaveLength(delivered);

  setting.ses.faults.clear();
  expect(await functions.sweep.invoke({})).toMatchObject({ published: 10 - delivered });
  const again = await setting.sql<{ id: string; generation: number; group: string }[]>`
    SELECT id, generation, subscriber_id::text AS group FROM owed.notification WHERE state = 'queued' ORDER BY id`;
  await functions.deliver.invoke({ Records: again.map((row) => messageFor(row)) });
  expect(await countStates(setting)).toEqual({ delivered: 10 });
  const ids = setting.ses.sent.map(({ tags }) => tags.notification);
  expect(new Set(ids).size).toBe(10);
  expect(ids).toHaveLength(10);
});

describe.concurrent("a function that can't be loaded names what is wrong", () => {
  test.each([
    [
      "ingest",
      { EventQueue: {} },
      "InvalidResource: the linked resource EventQueue is not as expected (url: is missing)",
    ],
    ["sweep", { Settings: { sweep: { slice: 0 } } }, "InvalidSettings: wrong settings: sweep.slice: "],
    [
      "feedback",
      { Database: { host: "h", port: 5432, database: "d", auth: "kerberos" } },
      "InvalidResource: the linked resource Database is not as expected (auth: must be ",
    ],
  ] as const)("%s", async (name, wrong, told) => {
    const links = Object.entries(wrong).map(([link, value]) => [
      `SST_RESOURCE_${link}`,
      JSON.stringify(value),
    ]);
    const environment = { ...setting.environment, ...Object.fromEntries(links) };
    await expect(startFunction(name, { environment })).rejects.toThrow(`${name} can't be loaded: ${told}`);
  });
});
