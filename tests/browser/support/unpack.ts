import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const packaged = createRequire(import.meta.url).resolve("@sparticuz/chromium");
const cache = fileURLToPath(new URL("../../../node_modules/.cache", import.meta.url));

export type Unpacked = {
  program: string;
  /** The libraries that a bare Debian lacks: NSS, NSPR and Expat. */
  libraries: string;
  /** A font of the package's own before the machine's, so that pages look alike everywhere. */
  fonts: string;
};

/**
 * The Chromium of the npm package, unpacked once into a folder of this checkout: 200 MB. The package itself unpacks into a
 * folder that all users of the machine share, and its libraries only where it takes the machine for AWS Lambda.
 *
 * @throws when it can't be unpacked: no room, no write permission
 */
export async function unpackChromium(): Promise<Unpacked> {
  const { version } = JSON.parse(await readFile(join(packaged, "../../package.json"), "utf8"));
  const folder = join(cache, `chromium-${version}`);
  if (!(await exists(folder))) await unpackInto(folder);
  return {
    program: join(folder, "chromium"),
    libraries: join(folder, "al2023/lib"),
    fonts: join(folder, "fonts.conf"),
  };
}

async function unpackInto(folder: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  // Elsewhere first: whoever sees the folder sees all of it, also when two unpack at once or one is killed.
  const unfinished = await mkdtemp(`${folder}-`);
  try {
    await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", unpack, packaged], {
      env: { ...process.env, TMPDIR: unfinished, AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x" },
    });
    // Whoever can read the checkout can run it.
    await chmod(unfinished, 0o755);
    await chmod(join(unfinished, "chromium"), 0o755);
    await writeFile(join(unfinished, "fonts.conf"), fontsIn(folder));
    await rename(unfinished, folder).catch(async (error: unknown) => {
      if (!(await exists(folder))) throw error;
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

const unpack =
  "const { default: chromium } = await import(process.argv[1]); await chromium.executablePath();";

const fontsIn = (folder: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${folder}/fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>${folder}/fonts-cache</cachedir>
  <alias binding="same"><family>system-ui</family><prefer><family>Open Sans</family></prefer></alias>
  <alias binding="same"><family>sans-serif</family><prefer><family>Open Sans</family></prefer></alias>
</fontconfig>
`;

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
