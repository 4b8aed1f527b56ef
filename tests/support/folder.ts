import { mkdtemp, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What the databases of a test run need at most, write-ahead log included. */
const enough = 4 * 2 ** 30;

/**
 * A new folder for a PostgreSQL cluster that a test run throws away: in memory where there is room, as a database of
 * its own for each file is hundreds of small files, which a disk's file system makes slowly.
 */
export async function makeFolder(name: string): Promise<string> {
  const memory = "/dev/shm";
  const { bavail, bsize } = await statfs(memory).catch(() => ({ bavail: 0, bsize: 0 }));
  return mkdtemp(join(bavail * bsize > enough ? memory : tmpdir(), `owed-${name}-`));
}
