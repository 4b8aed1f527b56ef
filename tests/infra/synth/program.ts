import { rmSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { banner, external } from "./components.ts";

/** What sst.config.ts exports. */
export type Program = {
  app(input: { stage: string }): Promise<AppArguments> | AppArguments;
  run(): Promise<Record<string, unknown> | undefined>;
};

export type AppArguments = {
  name: string;
  removal?: string;
  protect?: boolean;
  home: string;
  providers?: Record<string, { region?: string; version?: string } | undefined>;
};

const configFile = "sst.config.ts";

/** SST's command line refuses such a file, since it reads it before there is anything to import. */
const noImports: Plugin = {
  name: "no-imports",
  setup(context) {
    context.onResolve({ filter: /.*/ }, ({ importer, kind, path }) => {
      if (basename(importer) !== configFile || kind !== "import-statement") return undefined;
      const text = `${configFile} imports ${path} at its top, which SST does not allow; import it inside run()`;
      return { errors: [{ text }] };
    });
  },
};

/** Bundles sst.config.ts with all of infra/, as SST does, and loads it. Nothing of infra/ runs before `run()` imports it. */
export async function loadProgram(root: string, platform: string): Promise<Program> {
  // Inside the platform, where the packages left out are found.
  const file = join(platform, `program-${process.pid}.mjs`);
  try {
    await build({
      entryPoints: [join(root, configFile)],
      outfile: file,
      bundle: true,
      platform: "node",
      format: "esm",
      mainFields: ["module", "main"],
      sourcemap: "inline",
      banner: { js: banner },
      nodePaths: [join(platform, "node_modules")],
      external,
      logLevel: "silent",
      plugins: [noImports],
    });
    const { default: program } = (await import(pathToFileURL(file).href)) as { default: Program };
    return program;
  } finally {
    rmSync(file, { force: true });
  }
}
