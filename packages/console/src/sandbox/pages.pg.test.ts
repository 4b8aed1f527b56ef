import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createDesk, type Desk, get, post } from "../testing/context.ts";
import { createTestSandbox } from "../testing/sandbox.ts";

const sandbox = createTestSandbox();
let desk: Desk;
beforeAll(async () => {
  desk = await createDesk({ sandbox });
});
beforeEach(() => {
  sandbox.pulled.length = 0;
});
afterAll(() => desk.end());

const paths = [
  ...["/try/pause", "/try/resume", "/try/happen", "/try/provider/stop", "/try/provider/start", "/try/purge"],
];

test("the schedule is paused in the ledger with who and why, and goes on with a sweep at once", async () => {
  const paused = await post(desk.app, "/try/pause");
  expect([paused.status, paused.to.split("?")[0]]).toEqual([303, "/"]);
  const rows = await desk.db.sql`SELECT paused_by, paused_why FROM owed.heartbeat`;
  expect([...rows]).toEqual([{ paused_by: "ada", paused_why: "tried in the console" }]);
  expect(sandbox.pulled).toEqual([]);
  await post(desk.app, "/try/resume");
  expect((await desk.db.sql`SELECT FROM owed.heartbeat WHERE paused_at IS NULL`).count).toBe(1);
  expect(sandbox.pulled).toEqual(["sweep"]);
});

test("1, 20 or 200 events happen, and no other number", async () => {
  for (const events of ["1", "20", "200"])
    expect((await post(desk.app, "/try/happen", { events })).status).toBe(303);
  expect(sandbox.pulled).toEqual(["happen 1", "happen 20", "happen 200"]);
  for (const events of [null, "", "0", "3", "200.0", "1e9", "-1"]) {
    const { status, text } = await post(desk.app, "/try/happen", { events });
    expect(status, String(events)).toBe(400);
    expect(text).toContain("1, 20, 200 events can happen");
  }
  expect(sandbox.pulled).toHaveLength(3);
});

test("the providers are stopped and started, and the page says how they are", async () => {
  await post(desk.app, "/try/provider/stop");
  expect(sandbox.provider.stopped).toBe(true);
  expect((await get(desk.app, "/")).text).toContain("The providers are stopped.");
  await post(desk.app, "/try/provider/start");
  expect(sandbox.provider.stopped).toBe(false);
  expect((await get(desk.app, "/")).text).toContain("The providers work.");
});

test("the queue is purged; the mailbox has its link", async () => {
  await post(desk.app, "/try/purge");
  expect(sandbox.pulled).toEqual(["purge"]);
  expect((await get(desk.app, "/")).text).toContain('<a href="http://127.0.0.1:54323/">mailbox</a>');
});

test("no lever moves without the page's token", async () => {
  for (const path of paths) {
    for (const token of [null, "another"])
      expect((await post(desk.app, path, { token, events: "1" })).status, path).toBe(403);
    expect((await post(desk.app, path, { events: "1" }, { origin: "http://evil.example" })).status).toBe(403);
    expect((await get(desk.app, path)).status, "by a mere link").toBe(404);
  }
  expect(sandbox.pulled).toEqual([]);
  expect(sandbox.provider.stopped).toBe(false);
});

test("without a local stack there are no levers, and no addresses of theirs", async () => {
  const stage = await createDesk();
  try {
    expect((await get(stage.app, "/")).text).not.toContain("Try it");
    for (const path of paths) expect((await post(stage.app, path, { events: "1" })).status, path).toBe(404);
  } finally {
    await stage.end();
  }
});
