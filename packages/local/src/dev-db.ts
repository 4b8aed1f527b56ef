import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type LedgerOptions, LedgerUnavailable, MigrationFailed, migrate } from "@owed/ledger";
import { PortTaken } from "./port.ts";
import { FolderInUse, type LocalPostgres, PostgresFailed, startPostgres } from "./postgres.ts";
import { InvalidSetting, portFrom } from "./settings.ts";

// The database of an `sst dev` session: the functions run on this machine then, and so does their ledger.

const root = fileURLToPath(new URL("../../..", import.meta.url));
const folder = join(process.env.OWED_FOLDER ?? join(root, ".owed"), "dev");
/** Where the infrastructure finds the linked `Database`, while there is one. */
const linkFile = join(folder, "database.json");
const portSetting = "OWED_PORT_DEV_DB";
const say = (line: string) => console.log(line);

/** Whole or not at all, and readable by its owner alone: it has the password. */
async function writeLink({ host, port, database, user, password }: LocalPostgres): Promise<void> {
  const link = { host, port, database, tls: "off", auth: "password", username: user, password };
  await mkdir(dirname(linkFile), { recursive: true });
  await rm(`${linkFile}.new`, { force: true });
  await writeFile(`${linkFile}.new`, `${JSON.stringify(link, null, 2)}\n`, { mode: 0o600 });
  await rename(`${linkFile}.new`, linkFile);
}

function migrateLedger({ host, port, database, user, password }: LocalPostgres): Promise<string[]> {
  const options: LedgerOptions = {
    ...{ host, port, database, user, password, tls: "off" },
    ...{ applicationName: "owed-dev-db", connections: 1, deadline: 60 },
  };
  return migrate(options, join(root, "migrations"));
}

const guide = (port: number, applied: number) => `
The ledger of sst dev is up: PostgreSQL on 127.0.0.1:${port} (another port: ${portSetting}), ${applied === 0 ? "no migration was missing" : `${applied} migrations applied`}.
Its link is in ${relative(process.cwd(), linkFile)}, where the infrastructure looks for it. Keep this running, and in another terminal:

  npx sst dev

After a new migration, stop with Ctrl-C and start again. The data stays in ${relative(process.cwd(), folder)}; delete the folder to begin anew.
`;

async function main(): Promise<void> {
  // Heard from the beginning; a second signal (npm passes its own on) does not interrupt the stopping.
  const signal = new Promise<string>((stop) => {
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => stop(name));
  });
  say("starting PostgreSQL …");
  const postgres = await startPostgres({
    folder: join(folder, "postgres"),
    port: portFrom(portSetting, 54_324),
    portSetting,
    database: "owed",
  });
  try {
    const applied = await migrateLedger(postgres);
    await writeLink(postgres);
    say(guide(postgres.port, applied.length));
    say(`${await signal}: stopping`);
  } finally {
    // First: nobody shall begin with a database that is going away.
    await rm(linkFile, { force: true });
    await postgres.stop();
  }
}

try {
  await main();
} catch (error) {
  const expected = [
    PortTaken,
    FolderInUse,
    InvalidSetting,
    PostgresFailed,
    MigrationFailed,
    LedgerUnavailable,
  ].some((kind) => error instanceof kind);
  console.error(expected && error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
