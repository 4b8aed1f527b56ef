import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadBundles } from "./functions.ts";

test("each function comes from its artefact, which finds itself where it is", async () => {
  const build = await mkdtemp(join(tmpdir(), "owed-functions-"));
  const names = ["migrate", "ingest", "sweep", "deliver", "feedback"] as const;
  try {
    for (const name of names) {
      await mkdir(join(build, name));
      const program = "const root = process.env.LAMBDA_TASK_ROOT; export const handler = () => root;";
      await writeFile(join(build, name, "bundle.mjs"), program);
    }
    const functions = await loadBundles(build);
    for (const name of names) expect(Reflect.apply(functions[name], undefined, [])).toBe(join(build, name));
    expect(process.env.LAMBDA_TASK_ROOT).toBeUndefined();
  } finally {
    await rm(build, { recursive: true, force: true });
  }
});
