import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { migrate } from "@owed/ledger";
import { startPostgres } from "@owed/local";
import postgres from "postgres";
import { describeSchema } from "./describe-schema.ts";

// Writes migrations/schema.sql; with --check compares it instead, and exits with 1 when it is not what the
// migrations make.

const migrations = fileURLToPath(new URL("../../migrations", import.meta.url));
const file = join(migrations, "schema.sql");

/** What the migrations make, on a PostgreSQL of its own that is gone afterwards. */
async function schemaOfMigrations(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "owed-schema-"));
  const server = await startPostgres({ folder, port: 0, database: "owed", durable: false });
  const { host, port, user, password, database } = server;
  const access = { host, port, user, password, database };
  try {
    await migrate(
      { ...access, tls: "off", applicationName: "dump-schema", connections: 1, deadline: 30 },
      migrations,
    );
    const sql = postgres({ ...access, max: 1, onnotice: () => {} });
    try {
      return `-- What the migrations make: written by 'npm run schema', never by hand.\n\n${await describeSchema(sql)}`;
    } finally {
      await sql.end();
    }
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const shownLines = 40;

/** The lines in which two texts differ, without the same ones before and after. */
function difference(before: string, after: string): string {
  const [old, now] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end))
    end += 1;
  const lines = (text: string[], sign: string) =>
    text
      .slice(start, text.length - end)
      .slice(0, shownLines)
      .map((line) => `${sign} ${line}`);
  return [`line ${start + 1}:`, ...lines(old, "-"), ...lines(now, "+")].join("\n");
}

const { values } = parseArgs({ options: { check: { type: "boolean" } } });
const schema = await schemaOfMigrations();
if (!values.check) {
  await writeFile(file, schema);
  console.log("migrations/schema.sql is written");
} else {
  const committed = await readFile(file, "utf8").catch(() => "");
  if (committed === schema) console.log("migrations/schema.sql is what the migrations make");
  else {
    console.error(
      `migrations/schema.sql is not what the migrations make, from ${difference(committed, schema)}\n` +
        "Write it anew with 'npm run schema', look at the change, and commit it.",
    );
    process.exitCode = 1;
  }
}
