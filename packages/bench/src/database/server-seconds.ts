import { readdir, readFile } from "node:fs/promises";
import type { Ledger } from "@owed/ledger";

/** Linux counts a process's CPU in hundredths of a second, whatever its kernel's own tick is. */
const ticks = 100;

/** Seconds of CPU that the ledger's server has used since its start, ended sessions included; null elsewhere than on Linux. */
export async function serverSeconds(ledger: Ledger): Promise<number | null> {
  if (process.platform !== "linux") return null;
  const [row] = await ledger.run((sql) => sql<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`, {
    repeatable: true,
  });
  const session = row && (await readProcess(String(row.pid)));
  const postmaster = session && (await readProcess(session.parent));
  if (!session || !postmaster) return null;
  const all = await Promise.all(
    (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(readProcess),
  );
  const children = all.filter((one) => one?.parent === session.parent);
  return children.reduce((sum, one) => sum + (one?.own ?? 0), postmaster.own + postmaster.ended);
}

/** A process's parent, its own seconds, and those of its children that have ended; undefined when it is gone. */
async function readProcess(pid: string) {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (stat === undefined) return undefined;
  // "pid (name) state parent …", and the name may hold anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const seconds = (place: number) => Number(fields[place]) / ticks;
  return { parent: fields[1] ?? "", own: seconds(11) + seconds(12), ended: seconds(13) + seconds(14) };
}
