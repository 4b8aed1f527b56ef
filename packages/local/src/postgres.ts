import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { freePort, LOOPBACK } from "./port.ts";
import { openCluster, SUPERUSER } from "./postgres/cluster.ts";
import { clearLeftover } from "./postgres/leftover.ts";
import { PostgresFailed, type Server, startServer } from "./postgres/server.ts";

export { FolderInUse } from "./postgres/leftover.ts";
export { PostgresFailed } from "./postgres/server.ts";

export interface PostgresOptions {
  /** Where the data is kept; created if it is not there. */
  folder: string;
  /** 0 for any free port. */
  port: number;
  /** What the user sets to choose another port; it stands in the error about a taken one. */
  portSetting?: string;
  /** Created if it is not there. */
  database?: string;
  /** False for tests: faster, and safe when a process is killed, but not when the machine loses power. */
  durable?: boolean;
  /** Gets each line of the server's log. */
  log?: (line: string) => void;
}

export interface LocalPostgres {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** The postmaster's process id. */
  readonly pid: number;
  /** Ends the sessions and the server; resolves when it is gone, at once when it already was. */
  stop(): Promise<void>;
  /** SIGKILL to the postmaster; resolves when it and the sessions are gone. */
  kill(): Promise<void>;
}

/** How long sessions may outlive a killed postmaster before they count as stuck. */
const SESSIONS_PATIENCE_MS = 30_000;

/**
 * Starts PostgreSQL 18 on loopback, with its data in a folder. A later call with the same folder finds the data
 * again, however the earlier server or its Node process ended.
 *
 * @throws PortTaken, FolderInUse when a living process runs this folder's database, PostgresFailed
 */
export async function startPostgres(options: PostgresOptions): Promise<LocalPostgres> {
  const { folder, portSetting = "port", database = SUPERUSER, durable = true, log = () => {} } = options;
  const cluster = await openCluster(folder, durable);
  await clearLeftover(cluster.data, log);
  const port = await freePort(options.port, portSetting);
  const server = await retryWhileSessionsEnd(() => startServer(cluster, port, durable, log));
  const access = { host: LOOPBACK, port, user: SUPERUSER, password: cluster.password };
  try {
    await createDatabase(access, database);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return { ...access, ...server, database };
}

/** A session busy with a query notices only after it that the postmaster was killed. Until then nobody may start. */
async function retryWhileSessionsEnd(start: () => Promise<Server>): Promise<Server> {
  const deadline = performance.now() + SESSIONS_PATIENCE_MS;
  for (;;) {
    try {
      return await start();
    } catch (error) {
      const busy =
        error instanceof PostgresFailed && error.message.includes("pre-existing shared memory block");
      if (!busy || performance.now() > deadline) throw error;
      await sleep(200);
    }
  }
}

async function createDatabase(
  access: { host: string; port: number; user: string; password: string },
  name: string,
): Promise<void> {
  const sql = postgres({ ...access, database: SUPERUSER, max: 1, fetch_types: false, connect_timeout: 5 });
  try {
    const [there] = await sql`SELECT FROM pg_database WHERE datname = ${name}`;
    if (!there) await sql`CREATE DATABASE ${sql(name)}`;
  } finally {
    await sql.end({ timeout: 5 });
  }
}
