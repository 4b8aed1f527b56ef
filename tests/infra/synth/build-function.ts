import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import { build, type Loader, type Plugin } from "esbuild";

/** What SST asks of its builder: the function's arguments, resolved. */
export type BuildInput = {
  functionID: string;
  handler: string;
  runtime: string;
  links: Record<string, unknown>;
  copyFiles: { from: string; to: string }[];
  properties: {
    minify?: boolean;
    banner?: string;
    loader?: Record<string, Loader>;
    install?: Record<string, string>;
    esbuild?: { external?: string[]; target?: string; plugins?: Plugin[] };
  };
};

export type BuildFolders = { root: string; known: string; work: string };

/** `handler` as Lambda gets it, the folder with the bundle, and the bundle's size. */
export type BuiltFunction = { handler: string; out: string; bytes: number };

const extensions = [".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"];

/** CommonJS packages inside look for these (SST, pkg/runtime/node/build.go). */
const banner = [
  `import { createRequire as topLevelCreateRequire } from 'module';`,
  `const require = topLevelCreateRequire(import.meta.url);`,
  `import { fileURLToPath as topLevelFileUrlToPath, URL as topLevelURL } from "url";`,
  `const __filename = topLevelFileUrlToPath(import.meta.url);`,
  `const __dirname = topLevelFileUrlToPath(new topLevelURL(".", import.meta.url));`,
].join("\n");

/**
 * Bundles a function as SST does, and checks what SST leaves to the first invocation: that the handler's file exports
 * it. The bundle itself is thrown away, since nothing is uploaded, and a token lies in its place. `known` is a folder
 * for what is found out: the same handler with the same options is bundled once. `work` is this synthesis's own.
 */
export async function buildFunction(
  { root, known, work }: BuildFolders,
  { functionID, handler, properties }: BuildInput,
): Promise<BuiltFunction> {
  const { dir, name, ext } = posix.parse(handler);
  const file = extensions
    .map((extension) => join(root, dir, name + extension))
    .find((path) => existsSync(path));
  if (!file) {
    throw new Error(
      `${functionID}: its handler ${handler} names no file; there is no ${dir}/${name}.ts. Correct \`handler\` in its definition in infra/`,
    );
  }
  const entry = realpathSync(file);
  const key = createHash("sha256")
    .update(JSON.stringify([entry, properties]))
    .digest("hex")
    .slice(0, 16);
  const facts = join(known, `${key}.json`);
  if (!existsSync(facts)) await bundle(functionID, entry, facts, properties);
  const { bytes, exports } = JSON.parse(readFileSync(facts, "utf8")) as Facts;
  const wanted = ext.slice(1);
  if (!exports.includes(wanted)) {
    throw new Error(
      `${functionID}: its handler ${handler} names no export of ${dir}/${name}.ts, which exports ${exports.join(", ") || "nothing"}. Correct \`handler\` in its definition in infra/, or export \`${wanted}\``,
    );
  }
  const out = join(work, "bundles", functionID);
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, "bundle.mjs"), `export { ${wanted} };`);
  return { handler: `bundle${ext}`, out, bytes };
}

type Facts = { bytes: number; exports: string[] };

async function bundle(
  functionID: string,
  entry: string,
  facts: string,
  properties: BuildInput["properties"],
): Promise<void> {
  const { metafile } = await build({
    entryPoints: [entry],
    outfile: "bundle.mjs",
    write: false,
    bundle: true,
    platform: "node",
    format: "esm",
    target: properties.esbuild?.target ?? "esnext",
    mainFields: ["module", "main"],
    keepNames: true,
    minify: properties.minify ?? false,
    metafile: true,
    logLevel: "silent",
    banner: { js: [banner, properties.banner].join("\n") },
    loader: properties.loader ?? {},
    external: [
      "sharp",
      "pg-native",
      ...Object.keys(properties.install ?? {}),
      ...(properties.esbuild?.external ?? []),
    ],
  }).catch((error: Error) => {
    throw new Error(`${functionID}: it can't be bundled: ${error.message}`);
  });
  const [output] = Object.values(metafile.outputs);
  const found: Facts = { bytes: output?.bytes ?? 0, exports: output?.exports ?? [] };
  // Another synthesis may be at the same one: a file is there whole, or not at all.
  const mine = `${facts}.${process.pid}`;
  writeFileSync(mine, JSON.stringify(found));
  renameSync(mine, facts);
}
