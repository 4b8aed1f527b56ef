import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { alone } from "../../../packages/local/bin/install-lock.mjs";

export const repository = resolve(import.meta.dirname, "../../..");

/** What SST's command line must not do here: check for newer versions, fetch a runtime of its own, or call home. */
const quiet = {
  SST_SKIP_DEPENDENCY_CHECK: "1",
  SST_NO_BUN: "1",
  SST_TELEMETRY_DISABLED: "1",
  AWS_EC2_METADATA_DISABLED: "true",
};

/** SST's platform could not be installed. */
export class PlatformMissing extends Error {
  override readonly name = "PlatformMissing";
}

/** The folder of SST's components and the packages that they need. */
export const platformOf = (root: string): string => join(root, ".sst", "platform");

/**
 * Installs SST's platform (some 300 MB from the npm registry, half a minute) unless it is there in the version of
 * package.json. Throws `PlatformMissing` when it can't be had.
 */
export async function ensurePlatform(say: (line: string) => void): Promise<void> {
  if (isInstalled()) return;
  const waiting = () => say("Another run is installing SST's platform: waiting for it …");
  await alone(join(repository, ".sst", "install.lock"), waiting, async () => {
    if (!isInstalled()) await install(say);
  });
}

async function install(say: (line: string) => void): Promise<void> {
  say("Installing SST's platform (once, half a minute) …");
  const sst = join(repository, "node_modules", ".bin", "sst");
  try {
    await promisify(execFile)(sst, ["install", "--stage", "synth"], {
      cwd: repository,
      env: { ...process.env, ...quiet },
      timeout: 300_000,
    });
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    const why = `${stdout}${stderr}`.trim() || String(error);
    throw new PlatformMissing(
      `SST's platform could not be installed: ${why}\nIt comes from the npm registry: is that reachable? Then run it again.`,
    );
  }
  if (isInstalled()) return;
  throw new PlatformMissing(
    `\`sst install\` ended without an error, but ${platformOf(repository)} is not whole. Remove that folder and run it again.`,
  );
}

/** The platform's own packages are the last that an install brings. */
function isInstalled(): boolean {
  const platform = platformOf(repository);
  if (!existsSync(join(platform, "version"))) return false;
  if (readFileSync(join(platform, "version"), "utf8").trim() !== wantedVersion()) return false;
  const { dependencies } = readJson<{ dependencies: Record<string, string> }>(join(platform, "package.json"));
  return Object.keys(dependencies).every((name) =>
    existsSync(join(platform, "node_modules", name, "package.json")),
  );
}

const wantedVersion = () =>
  readJson<{ devDependencies: { sst: string } }>(join(repository, "package.json")).devDependencies.sst;

const readJson = <Shape>(file: string): Shape => createRequire(file)(file);
