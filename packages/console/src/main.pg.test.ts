import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { createDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { endAll, type Program, says, startProgram } from "../../../tests/support/program.ts";

vi.setConfig({ testTimeout: 120_000 });

const program = fileURLToPath(new URL("main.ts", import.meta.url));

let db: TestDatabase;
beforeAll(async () => {
  db = await createDatabase();
});
afterAll(() => db.drop());

const programs = new Set<Program>();
afterEach(() => endAll(programs, "SIGKILL"));

/** Starts the program as under `sst shell --stage staging`. */
function start(...argv: string[]): Program {
  const { host, port, database, user: username, password } = db.options;
  const link = { host, port, database, username, password, auth: "password", tls: "off" };
  const started = startProgram(program, argv, {
    SST_RESOURCE_App: JSON.stringify({ name: "owed", stage: "staging" }),
    SST_RESOURCE_Database: JSON.stringify(link),
    SST_RESOURCE_Settings: "{}",
  });
  programs.add(started);
  return started;
}

/** The address that it says, once it is up. */
async function addressOf(started: Program): Promise<string> {
  await says(started, "Ctrl-C");
  return /http:\/\/127\.0\.0\.1:\d+/.exec(started.output())?.[0] ?? "";
}

async function pause(url: string): Promise<number> {
  const page = await (await fetch(url)).text();
  const token = /name="token" value="([^"]+)"/.exec(page)?.[1] ?? "";
  const body = new URLSearchParams({ token, why: "a test" });
  const answer = await fetch(`${url}/sweeps/pause`, {
    ...{ method: "POST", body, redirect: "manual", headers: { origin: url } },
  });
  return answer.status;
}

test("a stage is looked at as a reader, until Ctrl-C, and nothing can be changed", async () => {
  const console = start("--stage", "staging", "--port", "0");
  const url = await addressOf(console);
  expect(console.output()).toBe(`The console of staging, read-only: ${url}\nCtrl-C ends it.\n`);
  const page = await (await fetch(url)).text();
  expect(page).toContain("<title>What is owed now · Owed, staging</title>");
  expect(page).toContain('<span class="tag">read-only</span>');
  expect(page).not.toContain("Try it");
  const sessions = await db.sql`SELECT FROM pg_stat_activity
    WHERE application_name = 'owed-reader' AND datname = current_database()`;
  expect(sessions.count).toBeGreaterThan(0);
  expect(await pause(url)).toBe(403);
  // An open page does not keep it.
  const live = await fetch(`${url}/live`);
  console.child.kill("SIGINT");
  expect(await console.ended).toBe(0);
  await expect(live.text()).rejects.toThrow();
});

test("with --write an operator acts, by name; a second console on its port is told so", async () => {
  const console = start("--port", "0", "--write", "--actor", "bea");
  const url = await addressOf(console);
  expect(console.output()).toContain("The console of staging, where bea may write: ");
  expect(await pause(url)).toBe(303);
  const rows = await db.sql`SELECT paused_by, paused_why FROM owed.heartbeat`;
  expect([...rows]).toEqual([{ paused_by: "bea", paused_why: "a test" }]);

  const second = start("--port", new URL(url).port);
  expect(await second.ended).toBe(1);
  expect(second.output()).toMatch(/^console: port \d+ is taken by another program.+--port.+\n$/);
  console.child.kill("SIGTERM");
  expect(await console.ended).toBe(0);
});

test("another stage than the one asked for is not shown", async () => {
  const console = start("--stage", "production", "--port", "0");
  expect(await console.ended).toBe(2);
  expect(console.output()).toBe(
    "console: --stage production was asked for, but what is linked here is staging: run " +
      "'npx sst shell --stage production -- npm run console -- --stage production'\n",
  );
});
