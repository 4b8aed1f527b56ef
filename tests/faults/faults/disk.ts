import { execFile } from "node:child_process";
import { chmod, mkdtemp, open, rm, rmdir, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Database, patiently } from "../world/database.ts";

const run = promisify(execFile);

/** How the disk is full: really, or by triggers that say what PostgreSQL would, where nothing can be mounted. */
export type FullBy = "disk" | "triggers";

let fullBy: Promise<FullBy> | undefined;

/** Root can mount, unless a container forbids it. */
export const wayToFill = (): Promise<FullBy> => {
  fullBy ??= mountable();
  return fullBy;
};

async function mountable(): Promise<FullBy> {
  const folder = await mkdtemp(join(tmpdir(), "owed-mount-"));
  try {
    await run("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder]);
    await run("umount", [folder]);
    return "disk";
  } catch {
    return "triggers";
  } finally {
    await rmdir(folder);
  }
}

/**
 * Lets PostgreSQL run out of space for the ledger's tables: they stand on a file system of their own, and a file fills
 * what is left of it. What is returned frees it, and brings the tables back. A full disk for the WAL is another fault:
 * PostgreSQL ends itself, as when it is killed.
 */
export async function fillDisk(database: Database): Promise<() => Promise<void>> {
  return (await wayToFill()) === "disk" ? fillReally(database) : raise(database);
}

async function fillReally({ sql, folder: cluster }: Database): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "owed-disk-"));
  await chmod(folder, 0o755);
  const { uid, gid } = await stat(cluster);
  await run("mount", ["-t", "tmpfs", "-o", `size=32m,mode=700,uid=${uid},gid=${gid}`, "tmpfs", folder]);
  await sql.unsafe(`CREATE TABLESPACE small LOCATION '${folder}'`);
  const move = async (from: string, to: string) => {
    // It locks one table after the other, and so do the functions, in another order.
    for (const all of ["TABLE", "INDEX"])
      await patiently(() => sql.unsafe(`ALTER ${all} ALL IN TABLESPACE ${from} SET TABLESPACE ${to}`));
  };
  await move("pg_default", "small");
  const filler = join(folder, "filler");
  await fill(filler);
  return async () => {
    await rm(filler);
    await move("small", "pg_default");
    await sql`DROP TABLESPACE small`;
    await run("umount", [folder]);
    await rmdir(folder);
  };
}

/** Writes until there is no space left. */
async function fill(path: string): Promise<void> {
  const file = await open(path, "w");
  try {
    for (let bytes = 256 * 1024; bytes >= 4096; ) {
      const full = await file.write(Buffer.alloc(bytes)).then(
        ({ bytesWritten }) => bytesWritten < bytes,
        () => true,
      );
      if (full) bytes /= 2;
    }
  } finally {
    await file.close();
  }
}

/** In PostgreSQL's words, to the functions alone: their next page is one too many. */
async function raise({ sql }: Database): Promise<() => Promise<void>> {
  await sql.unsafe(`
    CREATE FUNCTION owed.disk_full() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF current_setting('application_name') LIKE 'owed-%' THEN
        RAISE EXCEPTION USING ERRCODE = '53100', HINT = 'Check free disk space.',
          MESSAGE = 'could not extend file "base/16384/16385": No space left on device';
      END IF;
      RETURN NULL;
    END $$`);
  const tables = ["notification", "event", "attempt", "sweep_run"];
  for (const table of tables)
    await sql.unsafe(
      `CREATE TRIGGER disk_full BEFORE INSERT OR UPDATE ON owed.${table} FOR EACH STATEMENT EXECUTE FUNCTION owed.disk_full()`,
    );
  return async () => {
    await sql.unsafe("DROP FUNCTION owed.disk_full() CASCADE");
  };
}
