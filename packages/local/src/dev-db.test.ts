import { existsSync } from "node:fs";
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import postgres from "postgres";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { makeFolder } from "../../../tests/support/folder.ts";
import { endAll, type Program, says, startProgram } from "../../../tests/support/program.ts";
import { listen } from "./port.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const program = fileURLToPath(new URL("dev-db.ts", import.meta.url));

let folder: string;
let linkFile: string;
const programs = new Set<Program>();
/** One database for all, initialised once. */
beforeAll(async () => {
  folder = await makeFolder("dev-db");
  linkFile = join(folder, "dev", "database.json");
});
afterEach(() => endAll(programs, "SIGTERM"));
afterAll(() => rm(folder, { recursive: true, force: true }));

function run(port = "0"): Program {
  const started = startProgram(program, [], { OWED_FOLDER: folder, OWED_PORT_DEV_DB: port });
  programs.add(started);
  return started;
}

/** Resolves once it says what to do next. */
const up = (started: Program): Promise<void> => says(started, "npx sst dev");

const readLink = async () => JSON.parse(await readFile(linkFile, "utf8"));

async function tablesAt(link: Record<string, unknown>): Promise<number> {
  const { host, port, database, username, password } = link;
  const sql = postgres({ host, port, database, username, password, max: 1 } as postgres.Options<never>);
  try {
    const tables = await sql`SELECT FROM pg_tables WHERE schemaname = 'owed'`;
    return tables.length;
  } finally {
    await sql.end();
  }
}

test("it keeps a migrated database up until it is stopped, and the link to it exactly as long", async () => {
  await mkdir(join(folder, "dev"), { recursive: true });
  await writeFile(linkFile, "left by one that was killed", { mode: 0o644 });
  const first = run();
  await up(first);
  const link = await readLink();
  expect(link).toEqual({
    host: "127.0.0.1",
    port: expect.any(Number),
    database: "owed",
    tls: "off",
    auth: "password",
    username: "postgres",
    password: expect.stringMatching(/^[\w-]{32}$/),
  });
  expect(((await stat(linkFile)).mode & 0o777).toString(8)).toBe("600");
  expect(first.output()).toContain(`PostgreSQL on 127.0.0.1:${link.port}`);
  expect(first.output()).not.toContain(link.password);
  expect(await tablesAt(link)).toBeGreaterThan(5);

  const second = run();
  expect(await second.ended).toBe(1);
  expect(second.output()).toContain("is in use: Owed runs there already");
  expect(await readLink(), "the first one's").toEqual(link);

  first.child.kill("SIGINT");
  expect(await first.ended).toBe(0);
  expect(existsSync(linkFile)).toBe(false);
  await expect(tablesAt(link)).rejects.toThrow("ECONNREFUSED");
});

test("a taken port and a wrong one are told with the setting that chooses another", async () => {
  const taken = createServer();
  const port = await listen(taken, 0, "the test's port");
  const refused = run(String(port));
  expect(await refused.ended).toBe(1);
  expect(refused.output()).toContain(`Port ${port} on 127.0.0.1 is taken by another program`);
  expect(refused.output()).toContain("OWED_PORT_DEV_DB");
  expect(existsSync(linkFile)).toBe(false);
  taken.close();

  const wrong = run("many");
  expect(await wrong.ended).toBe(1);
  expect(wrong.output()).toContain('OWED_PORT_DEV_DB is "many": it must be a port from 0 to 65535');
});
