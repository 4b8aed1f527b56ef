import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Ledger, type LedgerOptions, migrate } from "@owed/ledger";
import postgres from "postgres";
import { type LocalPostgres, startPostgres } from "../../../packages/local/src/postgres.ts";
import { passTime } from "../../support/time.ts";
import { type PostgresProxy, startProxy } from "./proxy.ts";

const migrations = fileURLToPath(new URL("../../../migrations", import.meta.url));

/** SQLSTATEs disk_full and deadlock_detected. */
const diskFull = "53100";
const deadlock = "40P01";

/** Those whose times nobody compares with the present, and which hold most of a test's rows. */
const still = ["event", "shipment", "subscriber"];

/** Does it again when it met a statement that a dead process has left behind, and lost. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof postgres.PostgresError && error.code === deadlock) || tries === 10) throw error;
    }
  }
}

/**
 * A PostgreSQL of the test's own, which it may kill, and a proxy that the functions reach it by. The test itself
 * looks and lets time pass directly.
 */
export class Database {
  readonly proxy: PostgresProxy;
  readonly sql: postgres.Sql;
  readonly ledger: Ledger;
  /** The cluster's; the account that PostgreSQL runs as owns it. */
  readonly folder: string;
  #server: LocalPostgres;
  #up = true;
  /** Seconds that have passed while it was down. */
  #owedSeconds = 0;

  private constructor(folder: string, server: LocalPostgres, proxy: PostgresProxy) {
    this.folder = folder;
    this.#server = server;
    this.proxy = proxy;
    const { host, port, user, password, database } = server;
    this.sql = postgres({ host, port, user, password, database, max: 2, onnotice: () => {} });
    this.ledger = new Ledger(optionsOf(server));
  }

  static async start(folder: string): Promise<Database> {
    const server = await startPostgres({ folder, port: 0, database: "owed", durable: false });
    await migrate({ ...optionsOf(server), connections: 1, deadline: 60 }, migrations);
    return new Database(folder, server, await startProxy(server));
  }

  get up(): boolean {
    return this.#up;
  }

  get server(): LocalPostgres {
    return this.#server;
  }

  /**
   * Lets seconds pass in the ledger; those that pass while it is down, or its disk full, are made up for when it is
   * back.
   */
  async pass(seconds: number): Promise<void> {
    this.#owedSeconds += seconds;
    if (!this.#up) return;
    // A fraction more each time: rows that stand a minute apart must not meet.
    const owed = this.#owedSeconds + Math.random() / 10;
    try {
      await passTime(this.sql, owed, { still });
      this.#owedSeconds = 0;
    } catch (error) {
      const code = error instanceof postgres.PostgresError ? error.code : "";
      // It moves every row, the functions some of them, in another order.
      if (code === deadlock) await this.pass(0);
      else if (code !== diskFull) throw error;
    }
  }

  /** SIGKILL to the server and its sessions. */
  async kill(): Promise<void> {
    this.#up = false;
    await this.#server.kill();
  }

  /** Starts it again; nobody else reaches it before the time has passed that went by without it. */
  async restart(): Promise<void> {
    this.#up = false;
    this.proxy.refuse();
    await this.#server.stop();
    const { port } = this.#server;
    this.#server = await startPostgres({ folder: this.folder, port, database: "owed", durable: false });
    this.#up = true;
    await this.#connected();
    await this.pass(0);
    this.proxy.open();
  }

  /** The driver tells a broken connection's error once to whoever asks next. */
  async #connected(): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        await Promise.all([this.sql`SELECT 1`, this.sql`SELECT 1`]);
        return;
      } catch (error) {
        if (tries === 5) throw error;
      }
    }
  }

  async stop(): Promise<void> {
    // The driver may wait for ever for a connection whose server was killed (porsager/postgres 1208).
    const closed = Promise.all([this.ledger.close(), this.sql.end({ timeout: 1 })]);
    await Promise.race([closed, sleep(3000)]);
    await Promise.race([this.proxy.stop(), sleep(3000)]);
    // Sessions that a fault has left behind need not end by themselves.
    const stopped = this.#server.stop();
    await Promise.race([stopped, sleep(10_000).then(() => this.#server.kill())]);
  }
}

const optionsOf = ({ host, port, user, password, database }: LocalPostgres): LedgerOptions => ({
  ...{ host, port, user, password, database },
  tls: "off",
  applicationName: "observer",
  connections: 2,
  deadline: 20,
});
