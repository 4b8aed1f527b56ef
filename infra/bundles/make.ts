import { cp, rm } from "node:fs/promises";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { copyFiles, handlerOf, nodejs, type Stage, stages } from "../bundle.ts";
import { overBudget } from "./budget.ts";
import { type Contents, contentsOf } from "./contents.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

export type Bundle = Contents & {
  stage: Stage;
  /** What Lambda gets as `/var/task`: `bundle.mjs`, and the files beside it. */
  folder: string;
  milliseconds: number;
  /** See `overBudget`. */
  faults: string[];
};

/** Makes every function's artefact in a folder of its own in `out`, replacing what was there. */
export async function makeBundles(out: string): Promise<Bundle[]> {
  const bundles: Bundle[] = [];
  // One after the other: esbuild is parallel in itself, and each has its own time.
  for (const stage of stages) bundles.push(await makeBundle(stage, out));
  return bundles;
}

async function makeBundle(stage: Stage, out: string): Promise<Bundle> {
  const started = performance.now();
  const folder = join(out, stage);
  await rm(folder, { recursive: true, force: true });
  const contents = contentsOf(await bundle(stage, join(folder, "bundle.mjs")));
  for (const { from, to } of copyFiles(stage))
    await cp(join(root, from), join(folder, to), { recursive: true });
  const milliseconds = Math.round(performance.now() - started);
  return { stage, folder, milliseconds, ...contents, faults: overBudget(stage, contents) };
}

/** As SST bundles a Node function from the same options (sst/sst, pkg/runtime/node/build.go). */
async function bundle(stage: Stage, outfile: string) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [`${posix.join(posix.dirname(handlerOf(stage)), posix.parse(handlerOf(stage)).name)}.ts`],
    outfile,
    bundle: true,
    metafile: true,
    platform: "node",
    format: nodejs.format,
    minify: nodejs.minify,
    external: nodejs.esbuild.external,
    keepNames: true,
    target: "node24",
    mainFields: ["module", "main"],
    banner: { js: banner },
    logLevel: "silent",
  });
  return metafile;
}

/** What CommonJS packages expect to be there. */
const banner = `
import { createRequire as topLevelCreateRequire } from "module";
const require = topLevelCreateRequire(import.meta.url);
import { fileURLToPath as topLevelFileUrlToPath, URL as topLevelURL } from "url";
const __filename = topLevelFileUrlToPath(import.meta.url);
const __dirname = topLevelFileUrlToPath(new topLevelURL(".", import.meta.url));
`.trim();
