import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { repository } from "./platform.ts";

/** What `npm run dev:db` would have written: the database on a developer's machine. */
const developersDatabase = {
  host: "127.0.0.1",
  port: 5432,
  database: "owed",
  tls: "off",
  auth: "password",
  username: "postgres",
  password: "developer",
};

/**
 * A copy of sst.config.ts and infra/ in a folder of its own, beside links to all else: the real program runs in it,
 * and it may be changed. Disposing of it removes the folder.
 */
export class Tree {
  readonly root = mkdtempSync(join(tmpdir(), "owed-synth-"));

  constructor() {
    for (const name of ["sst.config.ts", "infra"]) {
      cpSync(join(repository, name), join(this.root, name), { recursive: true });
    }
    for (const name of ["packages", "migrations", "node_modules", "package.json", ".sst/platform"]) {
      const link = join(this.root, name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(repository, name), link);
    }
    const file = join(this.root, ".owed/dev/database.json");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(developersDatabase));
  }

  /** Puts one text for another in a file of this tree. Throws unless it is there exactly once. */
  edit(file: string, text: string, instead: string): void {
    const path = join(this.root, file);
    const parts = readFileSync(path, "utf8").split(text);
    if (parts.length !== 2) {
      throw new Error(`${file} has ${parts.length - 1} times, and not once:\n${text}`);
    }
    writeFileSync(path, parts.join(instead));
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
