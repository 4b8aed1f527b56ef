import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { LedgerUnavailable } from "./errors.ts";
import { Ledger, type LedgerOptions } from "./ledger.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

const open: Ledger[] = [];
function connect(options: Partial<LedgerOptions> = {}): Ledger {
  const ledger = new Ledger({ ...database.options, applicationName: "victim", connections: 1, ...options });
  open.push(ledger);
  return ledger;
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((ledger) => ledger.close()));
});

const refusal = (act: Promise<unknown>) =>
  act.then(
    () => null,
    (error: Error) => error,
  );
const one = (ledger: Ledger, repeatable = false) =>
  ledger.run((sql) => sql<{ one: number }[]>`SELECT 1 AS one`, { repeatable });
/** Ends the server's side of the ledger's connections, as a failover does. Returns how many there were. */
const cut = async (state: "active" | "idle") =>
  (
    await database.sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'victim' AND datname = current_database() AND state = ${state} AND query NOT LIKE 'SET%'`
  ).length;
/** The same, as soon as there are some. */
const terminate = (state: "active" | "idle") =>
  vi.waitFor(async () => expect(await cut(state)).toBeGreaterThan(0), { timeout: 5000, interval: 5 });

describe("a connection that is cut", () => {
  test("in the middle of a statement that may be repeated: it runs again", async () => {
    const ledger = connect();
    let runs = 0;
    const result = ledger.run(
      (sql) => {
        runs += 1;
        return sql<{ n: number }[]>`SELECT ${runs}::int AS n FROM pg_sleep(${runs === 1 ? 30 : 0})`;
      },
      { repeatable: true },
    );
    await terminate("active");
    expect((await result)[0]?.n).toBeGreaterThan(1);
    expect(await one(ledger)).toEqual([{ one: 1 }]);
  });

  test("in the middle of one that may not: nobody knows whether it ran, and the next statement works", async () => {
    const ledger = connect();
    let runs = 0;
    const result = refusal(
      ledger.run(
        (sql) => {
          runs += 1;
          return sql`SELECT pg_sleep(30)`;
        },
        { repeatable: false },
      ),
    );
    await terminate("active");
    const error = await result;
    expect(error).toBeInstanceOf(LedgerUnavailable);
    expect(error).toMatchObject({ certainlyNotRun: false });
    expect(runs).toBe(1);
    expect(await one(ledger)).toEqual([{ one: 1 }]);
  });

  test("again and again: unavailable in the end, and the next statement works", async () => {
    const ledger = connect();
    let done = false;
    const result = refusal(ledger.run((sql) => sql`SELECT pg_sleep(30)`, { repeatable: true })).finally(
      () => {
        done = true;
      },
    );
    while (!done) await cut("active");
    expect(await result).toBeInstanceOf(LedgerUnavailable);
    expect(await one(ledger)).toEqual([{ one: 1 }]);
  });

  test("while it is idle: the next statement that may be repeated works", async () => {
    const ledger = connect();
    for (let turn = 0; turn < 10; turn += 1) {
      expect(await one(ledger, true)).toEqual([{ one: 1 }]);
      await terminate("idle");
    }
    expect(await one(ledger, true)).toEqual([{ one: 1 }]);
  });

  test("among others: the neighbour's statement, and those that wait for a connection, run", async () => {
    const ledger = connect({ connections: 2 });
    const sleeper = refusal(ledger.run((sql) => sql`SELECT pg_sleep(30)`, { repeatable: false }));
    const asleep = await vi.waitFor(async () => {
      const [found] = await database.sql<{ pid: number }[]>`
        SELECT pid FROM pg_stat_activity WHERE application_name = 'victim' AND wait_event = 'PgSleep'`;
      if (!found) throw new Error("not asleep yet");
      return found.pid;
    });
    const neighbours = Promise.all(
      Array.from({ length: 20 }, () =>
        ledger.run((sql) => sql`SELECT pg_sleep(0.005)`, { repeatable: true }),
      ),
    );
    await database.sql`SELECT pg_terminate_backend(${asleep})`;
    expect(await sleeper).toBeInstanceOf(LedgerUnavailable);
    await neighbours;
  });
});

/** A server that answers as `behave` says; its address as the ledger's options. */
async function serve(behave: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    behave(socket);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => sockets.size,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

describe("is unavailable", () => {
  test("when nothing listens, and says what to do", async () => {
    const server = await serve(() => {});
    await server.stop();
    const error = await refusal(one(connect({ port: server.port })));
    expect(error).toBeInstanceOf(LedgerUnavailable);
    expect(error).toMatchObject({
      certainlyNotRun: true,
      message: expect.stringMatching(/ECONNREFUSED.*check that PostgreSQL runs and is reachable/),
    });
  });

  test("when there is no such host", async () => {
    const error = await refusal(one(connect({ host: "nowhere.invalid" })));
    expect(error).toMatchObject({ name: "LedgerUnavailable", certainlyNotRun: true });
  });

  test("when a server accepts and says nothing: after the deadline, and the next statement has a client of its own", async () => {
    const server = await serve(() => {});
    const ledger = connect({ port: server.port, deadline: 0.2 });
    const started = performance.now();
    const error = await refusal(one(ledger));
    expect(performance.now() - started).toBeLessThan(2000);
    expect(error).toBeInstanceOf(LedgerUnavailable);
    expect(error).toMatchObject({
      certainlyNotRun: false,
      message: expect.stringMatching(/no answer within 0.2 s/),
    });
    expect(await refusal(one(ledger))).toBeInstanceOf(LedgerUnavailable);
    expect(server.connections()).toBe(2);
    await server.stop();
  });

  test("when the answer is lost on the way: not run again, unless it may be", async () => {
    const server = await serve((socket) => socket.once("data", () => socket.resetAndDestroy()));
    for (const [repeatable, connections] of [
      [false, 1],
      [true, 4],
    ] as const) {
      const error = await refusal(one(connect({ port: server.port }), repeatable));
      expect(error).toMatchObject({ name: "LedgerUnavailable", certainlyNotRun: false });
      expect(server.connections()).toBe(connections);
    }
    await server.stop();
  });

  test("when a lock is held for longer than its limit, as a migration does: for certain not run", async () => {
    const ledger = connect({ deadline: 1 });
    await database.sql.begin(async (migration) => {
      await migration`LOCK TABLE owed.status IN ACCESS EXCLUSIVE MODE`;
      const error = await refusal(ledger.run((sql) => sql`SELECT FROM owed.status`, { repeatable: false }));
      expect(error).toMatchObject({
        name: "LedgerUnavailable",
        certainlyNotRun: true,
        message: expect.stringMatching(/lock timeout/),
      });
    });
    expect(await one(ledger)).toEqual([{ one: 1 }]);
  });

  test("when all connections are taken, for certain not run", async () => {
    const { sql, options } = database;
    await sql.unsafe(`ALTER DATABASE ${options.database} CONNECTION LIMIT 0`);
    await sql`DROP ROLE IF EXISTS modest`;
    await sql`CREATE ROLE modest LOGIN PASSWORD 'modest'`;
    const error = await refusal(one(connect({ user: "modest", password: "modest" })));
    await sql.unsafe(`ALTER DATABASE ${options.database} CONNECTION LIMIT -1`);
    await sql`DROP ROLE modest`;
    expect(error).toMatchObject({ name: "LedgerUnavailable", certainlyNotRun: true });
  });

  test("when its server has become read-only, until a new connection finds one that writes", async () => {
    const { sql, options } = database;
    const ledger = connect({ connections: 1 });
    const write = () => ledger.run((sql) => sql`UPDATE owed.heartbeat SET one = one`, { repeatable: false });
    await write();
    await sql.unsafe(`ALTER DATABASE ${options.database} SET default_transaction_read_only = on`);
    await ledger.run((sql) => sql`SET default_transaction_read_only = on`, { repeatable: true });
    const error = await refusal(write());
    await sql.unsafe(`ALTER DATABASE ${options.database} RESET default_transaction_read_only`);
    expect(error).toMatchObject({ name: "LedgerUnavailable", certainlyNotRun: true });
    // The tries in between have met a connection that only reads as well.
    await refusal(write()).catch(() => {});
    await write();
  });

  test.each([
    [
      "25006",
      "what was the primary before a failover only reads",
      "cannot execute UPDATE in a read-only transaction",
    ],
    ["53100", "the disk is full", "could not extend file: No space left on device"],
  ])("%s: when %s, for certain not run", async (code, _, message) => {
    const raise = `DO $$ BEGIN RAISE EXCEPTION '${message}' USING ERRCODE = '${code}'; END $$`;
    const error = await refusal(connect().run((sql) => sql.unsafe(raise), { repeatable: false }));
    expect(error).toMatchObject({ name: "LedgerUnavailable", certainlyNotRun: true });
  });
});

describe("what is the statement's own fault is thrown as it is", () => {
  test.each([
    [
      "a constraint",
      (ledger: Ledger) =>
        ledger.run((sql) => sql`INSERT INTO owed.status VALUES ('Not A Name')`, { repeatable: true }),
      "23514",
    ],
    ["a syntax error", (ledger: Ledger) => ledger.run((sql) => sql`SELEKT`, { repeatable: true }), "42601"],
  ])("%s", async (_, run, code) => {
    expect(await refusal(run(connect()))).toMatchObject({ name: "PostgresError", code });
  });
});
