import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type Account, chooseAccount, findPrograms, launch, type Programs, withReach } from "./programs.ts";

export const SUPERUSER = "postgres";
const UNFINISHED = "unfinished-";

/** A database cluster on disk, initialised but not running. */
export interface Cluster {
  readonly programs: Programs;
  readonly account: Account | undefined;
  /** The data folder, without symbolic links in its path. */
  readonly data: string;
  readonly password: string;
}

/**
 * Opens the cluster in a folder, initialising it the first time:
 * ```
 * folder/cluster/data       PostgreSQL's own
 * folder/cluster/password   the superuser's, mode 0600
 * ```
 * `cluster` comes into being complete, by renaming. What an initialisation killed midway left is thrown away.
 */
export async function openCluster(folder: string, durable: boolean): Promise<Cluster> {
  await mkdir(folder, { recursive: true });
  const root = await realpath(folder);
  const home = join(root, "cluster");
  const programs = await findPrograms();
  const account = await chooseAccount(home);
  if (account) await chown(root, account.uid, account.gid);
  const able = await withReach(account, programs, root);
  if (!(await stat(home).catch(() => undefined))) {
    await removeUnfinished(root);
    const unfinished = await mkdtemp(join(root, UNFINISHED));
    await initialise(unfinished, programs, able, durable);
    await rename(unfinished, home);
  }
  const password = await readFile(join(home, "password"), "utf8");
  return { programs, account: able, data: join(home, "data"), password: password.trim() };
}

/** Its initdb may still be at work: hence the retries here, and a new name for each attempt. */
async function removeUnfinished(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    if (!name.startsWith(UNFINISHED)) continue;
    await rm(join(root, name), { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}

async function initialise(
  home: string,
  programs: Programs,
  account: Account | undefined,
  durable: boolean,
): Promise<void> {
  const passwordFile = join(home, "password");
  await writeFile(passwordFile, `${randomBytes(24).toString("base64url")}\n`, { mode: 0o600 });
  if (account) {
    for (const path of [home, passwordFile]) await chown(path, account.uid, account.gid);
  }
  const args = [
    `--pgdata=${join(home, "data")}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    // PostgreSQL's own C.UTF-8 sorts and folds case the same on every system, whatever LANG says.
    "--encoding=UTF8",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--no-locale",
    ...(durable ? [] : ["--no-sync"]),
  ];
  const child = launch(programs.initdb, args, account, ["ignore", "ignore", "pipe"]);
  const [[code, signal], messages] = await Promise.all([
    once(child, "close"),
    child.stderr ? text(child.stderr) : "",
  ]);
  if (code !== 0)
    throw new Error(`PostgreSQL could not initialise ${home} (${code ?? signal}):\n${messages}`);
}
