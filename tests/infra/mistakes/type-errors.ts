import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repository } from "../synth/platform.ts";
import { Tree } from "../synth/tree.ts";
import type { Edit } from "./mistake.ts";

/**
 * What `tsc` says of the program with each of these edits in it, by name: its errors, a line each, with paths from the
 * program's folder; empty when it has none. All are checked at once, since SST's own types take most of the time.
 */
export async function typeErrors(
  programs: readonly { name: string; edits: Edit[] }[],
): Promise<Map<string, string>> {
  using stack = new DisposableStack();
  const trees = programs.map(({ name, edits }) => {
    const tree = stack.use(new Tree());
    for (const [file, text, instead] of edits) tree.edit(`infra/${file}`, text, instead);
    return { name, root: tree.root };
  });
  const folder = stack.adopt(mkdtempSync(join(tmpdir(), "owed-types-")), (path) =>
    rmSync(path, { recursive: true }),
  );
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(configOf(trees.map(({ root }) => root))));
  const said = await tsc(folder);
  return new Map(trees.map(({ name, root }) => [name, linesAbout(said, root)]));
}

const configOf = (roots: readonly string[]) => ({
  extends: join(repository, "infra/tsconfig.json"),
  compilerOptions: { typeRoots: [join(repository, "node_modules/@types")] },
  files: roots.map((root) => join(root, "sst.config.ts")),
  include: roots.map((root) => join(root, "infra/*.ts")),
});

/** What it writes; it ends with an error when it finds one. */
function tsc(folder: string): Promise<string> {
  const program = join(repository, "node_modules/.bin/tsc");
  return new Promise((resolve) => {
    execFile(
      program,
      ["-p", folder, "--pretty", "false"],
      { cwd: "/", maxBuffer: 2 ** 26 },
      (_error, stdout) => resolve(stdout),
    );
  });
}

/** An error that is told in several lines has the others indented. */
function linesAbout(said: string, root: string): string {
  const errors = said.split(/\n(?! )/);
  return errors
    .filter((error) => error.includes(root.slice(1)))
    .map((error) => error.slice(error.indexOf(root.slice(1)) + root.length))
    .join("\n");
}
