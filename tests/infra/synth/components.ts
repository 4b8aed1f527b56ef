import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { leaveOutUnused } from "./unused.ts";

/** What SST's own command line leaves out of the programs that it bundles (SST, pkg/js/js.go). */
export const external = [
  "@pulumi/*",
  "@pulumiverse/*",
  "@sst-provider/*",
  "@aws-sdk/*",
  "archiver",
  "esbuild",
  "glob",
  "undici",
  "vite",
];

/** CommonJS packages inside look for these. */
export const banner = [
  `import { createRequire as requireFrom } from "node:module";`,
  "const require = requireFrom(import.meta.url), __filename = import.meta.filename, __dirname = import.meta.dirname;",
].join("\n");

export type Components = {
  sst: object;
  /** `$app` and its kin: what a program of SST has without an import. */
  globals: Record<string, unknown>;
  run(program: () => Promise<unknown>): Promise<Record<string, unknown>>;
};

/** SST's components, bundled once for a version of the platform: each synthesis then only bundles the program's own files. */
export async function loadComponents(platform: string): Promise<Components> {
  // Inside the platform, where the packages left out are found.
  const file = join(platform, `components-${fingerprint(platform)}.mjs`);
  if (!existsSync(file)) await bundle(platform, file);
  return (await import(pathToFileURL(file).href)) as Components;
}

/** Of what decides what is in the bundle. */
function fingerprint(platform: string): string {
  const files = [
    join(platform, "version"),
    ...["components.ts", "unused.ts"].map((name) => join(import.meta.dirname, name)),
  ];
  const hash = createHash("sha256");
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest("hex").slice(0, 16);
}

async function bundle(platform: string, file: string): Promise<void> {
  const mine = `${file}.${process.pid}`;
  await build({
    stdin: {
      contents: `
        export * as sst from "./src/components";
        export * as globals from "./src/shim/run.js";
        export { run } from "./src/auto/run.ts";`,
      resolveDir: platform,
      loader: "ts",
    },
    outfile: mine,
    bundle: true,
    platform: "node",
    format: "esm",
    mainFields: ["module", "main"],
    inject: [join(platform, "src/shim/run.js")],
    banner: { js: banner },
    external,
    plugins: [leaveOutUnused],
    logLevel: "silent",
  });
  renameSync(mine, file);
}
