import { execFile } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { shutDown } from "./shut-down.ts";

/** Another process is running the database of this folder. */
export class FolderInUse extends Error {
  override readonly name = "FolderInUse";

  constructor(data: string, pid: number) {
    super(
      `The database in ${data} is in use: Owed runs there already, its PostgreSQL as process ${pid}. Stop that one first, or choose another folder.`,
    );
  }
}

/** A server setting that means nothing to PostgreSQL; it puts the starter's process id on the command line. */
export const startedBy = (pid: number) => `owed.started_by=${pid}`;

/**
 * Clears what a killed process left in a data folder: a postmaster that lost its parent is stopped; a
 * `postmaster.pid` that names no postmaster of this folder (any more) no longer keeps the next one from starting.
 *
 * @throws FolderInUse when the postmaster's parent lives
 */
export async function clearLeftover(data: string, log: (line: string) => void): Promise<void> {
  const lockFile = join(data, "postmaster.pid");
  const lock = await readFile(lockFile, "utf8").catch(() => undefined);
  if (lock === undefined) return;
  const pid = Number.parseInt(lock, 10);
  if (Number.isNaN(pid)) return rm(lockFile); // killed between creating and writing it

  const postmaster = await findPostmaster(pid, data);
  if (!postmaster) {
    // Process ids are used again, and PostgreSQL takes any living process of its user for a postmaster. Its parent,
    // this process, it knows to be none. The file stays, since its other lines tell PostgreSQL of sessions that
    // outlived the postmaster.
    await writeFile(lockFile, lock.replace(/^\s*-?\d+/, String(process.pid)));
    return;
  }
  const { parent, starter } = postmaster;
  if (starter === undefined || starter === parent) throw new FolderInUse(data, starter ?? pid);
  log(`Stopping the database that process ${starter} left running (process ${pid}).`);
  await shutDown(pid, (signal) => process.kill(pid, signal), untilGone(pid, data));
}

async function untilGone(pid: number, data: string): Promise<void> {
  while (await findPostmaster(pid, data)) await sleep(20);
}

/** The process as a postmaster of this data folder; undefined if it is something else or has ended. */
async function findPostmaster(
  pid: number,
  data: string,
): Promise<{ parent: number; starter: number | undefined } | undefined> {
  const running = await (process.platform === "linux" ? lookInProc(pid) : askPs(pid));
  if (!running?.command.includes(` -D ${data} `)) return undefined;
  const starter = /owed\.started_by=(\d+)/.exec(running.command)?.[1];
  return { parent: running.parent, starter: starter === undefined ? undefined : Number(starter) };
}

interface Running {
  parent: number;
  command: string;
}

/** Slim images have no `ps`. A zombie has an empty command line, so it counts as gone. */
async function lookInProc(pid: number): Promise<Running | undefined> {
  try {
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8");
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    // "pid (name) state parent …", and the name may hold anything
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    return { parent, command: command.replaceAll("\0", " ") };
  } catch {
    return undefined;
  }
}

async function askPs(pid: number): Promise<Running | undefined> {
  try {
    const { stdout } = await promisify(execFile)("ps", ["-ww", "-o", "ppid=,command=", "-p", String(pid)]);
    const [, parent, command = ""] = /^\s*(\d+)\s+(.*)/s.exec(stdout) ?? [];
    return { parent: Number(parent), command };
  } catch {
    return undefined;
  }
}
