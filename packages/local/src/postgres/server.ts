import { once } from "node:events";
import { createInterface } from "node:readline";
import { LOOPBACK } from "../port.ts";
import type { Cluster } from "./cluster.ts";
import { startedBy } from "./leftover.ts";
import { launch } from "./programs.ts";
import { shutDown } from "./shut-down.ts";

const READY = "database system is ready to accept connections";
const START_PATIENCE_MS = 120_000; // recovery after a crash included
const KEPT_LINES = 20;

/** The server ended, or was not ready in time. The message holds the last lines of its log. */
export class PostgresFailed extends Error {
  override readonly name = "PostgresFailed";

  constructor(what: string, data: string, lastLines: readonly string[]) {
    super(`PostgreSQL ${what} in ${data}. The end of its log:\n${lastLines.join("\n")}`);
  }
}

/** A running postmaster that this process started. */
export interface Server {
  readonly pid: number;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

/**
 * Starts the server and waits until it says that it is ready.
 *
 * @throws PostgresFailed
 */
export async function startServer(
  { programs, account, data }: Cluster,
  port: number,
  durable: boolean,
  log: (line: string) => void,
): Promise<Server> {
  const settings = [
    `listen_addresses=${LOOPBACK}`,
    "unix_socket_directories=",
    "shared_preload_libraries=pg_stat_statements",
    "timezone=UTC",
    "log_timezone=UTC",
    // A killed server still loses nothing without these two; a machine that loses power does.
    ...(durable ? [] : ["fsync=off", "full_page_writes=off"]),
    startedBy(process.pid),
  ];
  const args = ["-D", data, "-p", String(port), ...settings.flatMap((setting) => ["-c", setting])];
  const child = launch(programs.postgres, args, account, ["ignore", "ignore", "pipe"]);
  await once(child, "spawn");
  const { pid, stderr } = child;
  if (pid === undefined || !stderr) throw new Error(`${programs.postgres} did not start.`);

  // Unlike 'exit', 'close' waits for every process that has the log open: the sessions too, not the postmaster alone.
  const closed = Promise.withResolvers<void>();
  const gone = closed.promise;
  const lastWish = () => child.kill("SIGINT");
  process.once("exit", lastWish);
  child.once("close", (code, signal) => {
    process.off("exit", lastWish);
    log(`PostgreSQL (process ${pid}) has ended: ${signal ?? code}.`);
    closed.resolve();
  });

  const lastLines: string[] = [];
  const ready = Promise.withResolvers<void>();
  createInterface(stderr).on("line", (line) => {
    log(line);
    lastLines.push(line);
    if (lastLines.length > KEPT_LINES) lastLines.shift();
    if (line.includes(READY)) ready.resolve();
  });
  const fail = (what: string) => ready.reject(new PostgresFailed(what, data, lastLines));
  gone.then(() => fail("did not start"));
  const late = setTimeout(fail, START_PATIENCE_MS, "was not ready in time");

  const stop = () => shutDown(pid, (signal) => child.kill(signal), gone);
  try {
    await ready.promise;
  } catch (error) {
    await stop();
    throw error;
  } finally {
    clearTimeout(late);
  }
  return {
    pid,
    stop,
    async kill() {
      child.kill("SIGKILL");
      await gone;
    },
  };
}
