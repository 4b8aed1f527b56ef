import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { createDatabase, type TestDatabase } from "../../../tests/support/database.ts";

vi.setConfig({ testTimeout: 120_000 });

const program = fileURLToPath(new URL("main.ts", import.meta.url));

let db: TestDatabase;
beforeAll(async () => {
  db = await createDatabase();
});
afterAll(() => db.drop());

const children = new Set<ChildProcess>();
afterEach(async () => {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  children.clear();
});

type Run = { child: ChildProcess; output: () => string; ended: Promise<number | null> };

/** Starts the program as under `sst shell --stage staging`. */
function start(...argv: string[]): Run {
  const { host, port, database, user: username, password } = db.options;
  const link = { host, port, database, username, password, auth: "password", tls: "off" };
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [program, ...argv], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...{ PATH, NODE_COMPILE_CACHE },
      SST_RESOURCE_App: JSON.stringify({ name: "owed", stage: "staging" }),
      SST_RESOURCE_Database: JSON.stringify(link),
      SST_RESOURCE_Settings: "{}",
    },
  });
  children.add(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const ended = once(child, "close").then(([code]: (number | null)[]) => code ?? null);
  return { child, output: () => output, ended };
}

/** The address that it says, once it is up. */
async function addressOf({ child, output, ended }: Run): Promise<string> {
  const told = new Promise<void>((tell) => {
    child.stdout?.on("data", () => output().includes("Ctrl-C") && tell());
  });
  const failed = ended.then((code) => {
    throw new Error(`it ended with ${code}: ${output()}`);
  });
  failed.catch(() => {});
  await Promise.race([told, failed]);
  return /http:\/\/127\.0\.0\.1:\d+/.exec(output())?.[0] ?? "";
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
