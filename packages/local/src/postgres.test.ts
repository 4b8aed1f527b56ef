import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import postgres from "postgres";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { makeFolder } from "../../../tests/support/folder.ts";
import { listen, PortTaken } from "./port.ts";
import { FolderInUse, type LocalPostgres, PostgresFailed, startPostgres } from "./postgres.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let base: string;
/** Initialised once and used by one test after the other. */
let folder: string;
const started = new Set<LocalPostgres>();
const children = new Set<ChildProcess>();

beforeAll(async () => {
  base = await realpath(await makeFolder("postgres"));
  await chmod(base, 0o755); // else only root could enter, which is a test of its own
  folder = join(base, "shared");
});
afterEach(async () => {
  // Until its parent has ended, a postmaster has not lost it.
  const alive = [...children].filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
  for (const child of alive) child.kill("SIGKILL");
  await Promise.all(alive.map((child) => once(child, "exit")));
  await Promise.all([...started].map((server) => server.stop()));
  started.clear();
  children.clear();
});
afterAll(() => rm(base, { recursive: true, force: true }));

async function start(options: { folder?: string; port?: number; log?: (line: string) => void } = {}) {
  const server = await startPostgres({
    folder,
    port: 0,
    portSetting: "OWED_POSTGRES_PORT",
    database: "owed-test",
    durable: false,
    ...options,
  });
  started.add(server);
  return server;
}

async function query<Row extends object>(server: LocalPostgres, text: string): Promise<Row[]> {
  const { host, port, user, password, database } = server;
  const sql = postgres({ host, port, user, password, database, max: 1, onnotice: () => {} });
  try {
    return [...(await sql.unsafe<Row[]>(text))];
  } finally {
    await sql.end();
  }
}

/** Another cluster, in a folder of its own: a copy, as an initialisation takes seconds. */
async function copyCluster(name: string): Promise<string> {
  const copy = join(base, name);
  await promisify(execFile)("cp", ["-a", folder, copy]);
  return copy;
}

async function writeRow(server: LocalPostgres, value: string): Promise<void> {
  await query(server, `CREATE TABLE IF NOT EXISTS kept (value text); INSERT INTO kept VALUES ('${value}')`);
}

async function kept(server: LocalPostgres, value: string): Promise<boolean> {
  return (await query(server, `SELECT FROM kept WHERE value = '${value}'`)).length === 1;
}

/** Another Node process that starts the database and keeps it. */
async function startElsewhere(): Promise<{ child: ChildProcess; server: LocalPostgres }> {
  const module = join(import.meta.dirname, "postgres.ts");
  const program = `
    const { startPostgres } = await import(${JSON.stringify(module)});
    const server = await startPostgres(${JSON.stringify({ folder, port: 0, database: "owed-test", durable: false })});
    console.log(JSON.stringify(server));`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.add(child);
  if (!child.stdout) throw new Error("no stdout");
  const [line] = await once(createInterface(child.stdout), "line");
  return { child, server: JSON.parse(line) };
}

async function sigkill(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("a started database", () => {
  test("is UTF-8, in UTC, with statistics, on loopback and no socket file", async () => {
    const server = await start();
    expect(server).toMatchObject({ host: "127.0.0.1", database: "owed-test", pid: expect.any(Number) });
    const settings = await query(
      server,
      `SELECT name, setting FROM pg_settings WHERE name IN ('server_encoding', 'TimeZone', 'listen_addresses',
         'unix_socket_directories', 'shared_preload_libraries', 'password_encryption') ORDER BY name COLLATE "C"`,
    );
    expect(settings).toEqual([
      { name: "TimeZone", setting: "UTC" },
      { name: "listen_addresses", setting: "127.0.0.1" },
      { name: "password_encryption", setting: "scram-sha-256" },
      { name: "server_encoding", setting: "UTF8" },
      { name: "shared_preload_libraries", setting: "pg_stat_statements" },
      { name: "unix_socket_directories", setting: "" },
    ]);
    const [locale] = await query(
      server,
      `SELECT datlocale, lower('ÄÖ') FROM pg_database WHERE datname = 'owed-test'`,
    );
    expect(locale).toEqual({ datlocale: "C.UTF-8", lower: "äö" });
    expect(await query(server, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements")).toEqual([]);
    expect(await query(server, "SELECT FROM pg_stat_statements LIMIT 1")).toHaveLength(1);
  });

  test("asks for the password, which only its owner can read", async () => {
    const server = await start();
    expect(server.password.length).toBeGreaterThanOrEqual(32);
    await expect(query({ ...server, password: "guessed" }, "SELECT 1")).rejects.toThrow(
      "password authentication failed",
    );
    const file = await stat(join(folder, "cluster", "password"));
    expect(file.mode & 0o777).toBe(0o600);
  });

  test("refuses a second one on its folder, from this process and from another", async () => {
    const server = await start();
    await expect(start()).rejects.toThrow(FolderInUse);
    await server.stop();

    const { child } = await startElsewhere();
    await expect(start()).rejects.toThrow(new RegExp(`as process ${child.pid}\\b`));
  });
});

describe("the data is there again", () => {
  test("after a stop", async () => {
    const first = await start();
    await writeRow(first, "stopped");
    await first.stop();
    await first.stop();
    expect(isAlive(first.pid)).toBe(false);
    expect(await kept(await start(), "stopped")).toBe(true);
  });

  test("after kill -9 of the postmaster, on the same port", async () => {
    const first = await start();
    await writeRow(first, "postmaster killed");
    await first.kill();
    expect(isAlive(first.pid)).toBe(false);
    const second = await start({ port: first.port });
    expect(second.port).toBe(first.port);
    expect(await kept(second, "postmaster killed")).toBe(true);
  });

  test("after kill -9 of its Node process, which leaves the postmaster running", async () => {
    const { child, server: orphan } = await startElsewhere();
    await writeRow(orphan, "node killed");
    await sigkill(child);
    expect(isAlive(orphan.pid)).toBe(true);

    const lines: string[] = [];
    const second = await start({ port: orphan.port, log: (line) => lines.push(line) });
    expect(lines[0]).toBe(
      `Stopping the database that process ${child.pid} left running (process ${orphan.pid}).`,
    );
    expect(await kept(second, "node killed")).toBe(true);
  });

  test("after kill -9 of both, while a session still works on a query", async () => {
    const { child, server: orphan } = await startElsewhere();
    await writeRow(orphan, "both killed");
    const { host, port, user, password, database } = orphan;
    const sql = postgres({ host, port, user, password, database, max: 1 });
    // Busy until it finds a file, or for half a minute, and meanwhile it does not look whether the postmaster lives.
    const busy = `DO $$ DECLARE until timestamptz := clock_timestamp() + interval '30 seconds'; BEGIN
                  WHILE pg_stat_file('enough', true) IS NULL AND clock_timestamp() < until LOOP END LOOP; END $$`;
    const work = sql
      .unsafe(busy)
      .execute()
      .catch(() => {});
    await vi.waitFor(async () => {
      const look = `SELECT FROM pg_stat_activity
                     WHERE state = 'active' AND query LIKE 'DO %' AND pid <> pg_backend_pid()`;
      expect(await query(orphan, look)).toHaveLength(1);
    });
    await sigkill(child);
    process.kill(orphan.pid, "SIGKILL");
    const enough = join(folder, "cluster", "data", "enough");
    let refused = 0;
    const second = await start({
      log(line) {
        if (!/pre-existing shared memory block .* is still in use/.test(line)) return;
        refused += 1;
        writeFileSync(enough, "");
      },
    });
    expect(refused).toBeGreaterThan(0);
    expect(await kept(second, "both killed")).toBe(true);
    await work;
    await sql.end({ timeout: 0 });
  });

  test("although its postmaster.pid names a living process that is none of it", async () => {
    const first = await start();
    await writeRow(first, "pid used again");
    const lockFile = join(folder, "cluster", "data", "postmaster.pid");
    const lock = await readFile(lockFile, "utf8");
    await first.kill();
    // Another cluster's postmaster: the same user's, so PostgreSQL itself would give up here.
    const other = await start({ folder: await copyCluster("other") });
    await writeFile(lockFile, lock.replace(String(first.pid), String(other.pid)));
    expect(await kept(await start(), "pid used again")).toBe(true);
    expect(isAlive(other.pid)).toBe(true);
  });

  test("after an initialisation that was killed midway", async () => {
    const half = join(base, "half");
    await mkdir(join(half, "unfinished-1", "data", "base"), { recursive: true });
    await writeFile(join(half, "unfinished-1", "data", "PG_VERSION"), "18\n");
    const server = await start({ folder: half });
    await writeRow(server, "started over");
    expect(await kept(server, "started over")).toBe(true);
    expect(await readdir(half)).toEqual(["cluster"]);
  });
});

describe("it says why it does not start", () => {
  test("a taken port, with its setting", async () => {
    const neighbour = createServer();
    const port = await listen(neighbour, 0, "any");
    try {
      const error = await start({ port }).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(PortTaken);
      expect(error).toMatchObject({ port, setting: "OWED_POSTGRES_PORT" });
    } finally {
      neighbour.close();
    }
  });

  test("the server's own last words", async () => {
    const first = await start();
    await first.stop();
    const broken = await copyCluster("broken");
    await rm(join(broken, "cluster", "data", "global", "pg_control"));
    const error = await start({ folder: broken }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(PostgresFailed);
    expect(String(error)).toMatch(
      /did not start in .*broken.*\n.*could not (find the database system|open file)/,
    );
  });
});

test.runIf(process.getuid?.() === 0)("root may keep it in a folder that only root may enter", async () => {
  const closed = join(base, "closed");
  await mkdir(closed, { mode: 0o700 });
  const server = await start({ folder: join(closed, "data") });
  await writeRow(server, "closed");
  expect(await kept(server, "closed")).toBe(true);
  const { uid } = await stat(join(closed, "data", "cluster", "data"));
  expect(uid).not.toBe(0);
});
