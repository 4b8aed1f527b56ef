/** Brings node_modules to what package-lock.json says, when it is not there already. */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, realpathSync, statfsSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { alone, isAlive } from "./install-lock.mjs";

export const root = resolve(fileURLToPath(import.meta.url), "../../../..");
export const bins = join(root, "node_modules", ".bin");
export const node24 = join(root, "node_modules", "node", "bin", "node");
const stamp = join(root, "node_modules", ".owed-installed");
const lock = join(root, ".owed", "install.lock");

/** Something the reader can mend: its message is all that is shown. */
export class CannotStart extends Error {
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

export const say = (line) => process.stderr.write(`${line}\n`);

/** PATH as it is outside of this project: npm puts each node_modules/.bin above the folder first. */
export const pathWithoutBins = () =>
  (process.env.PATH ?? "").split(delimiter).filter((dir) => !/node_modules[\\/]\.bin[\\/]?$/.test(dir));

/** Returns when the locked packages are installed. Throws CannotStart when they cannot be. */
export async function ensureInstalled() {
  if (isInstalled()) return;
  const waiting = () => say("Another start is installing the packages: waiting for it …");
  await alone(lock, waiting, (noteGroup) => isInstalled() || install(noteGroup));
}

const isInstalled = () => (isStamped() || isLocked()) && node24Runs();

const isStamped = () => existsSync(stamp) && readFileSync(stamp, "utf8") === fingerprint();

/** Somebody ran npm themselves: npm's own record of node_modules, which it writes last, says what is there. */
function isLocked() {
  const record = "node_modules/.package-lock.json";
  if (!existsSync(join(root, record))) return false;
  const installed = parse(record).packages;
  return Object.entries(parse("package-lock.json").packages).every(
    ([path, { version, optional, link }]) =>
      !path.includes("node_modules/") ||
      link ||
      (installed[path] ? installed[path].version === version : optional),
  );
}

/** One hash of what decides what `npm ci` installs: the lock file, and the dependencies in each package.json. */
function fingerprint() {
  const hash = createHash("sha256").update(read("package-lock.json"));
  const workspaces = readdirSync(join(root, "packages")).map((name) => `packages/${name}/package.json`);
  for (const file of ["package.json", ...workspaces.filter((path) => existsSync(join(root, path)))]) {
    const { dependencies, devDependencies, optionalDependencies, overrides, allowScripts } = parse(file);
    hash.update(
      JSON.stringify([file, dependencies, devDependencies, optionalDependencies, overrides, allowScripts]),
    );
  }
  return hash.digest("hex");
}

function read(file) {
  try {
    return readFileSync(join(root, file), "utf8");
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    throw new CannotStart(
      `${file} is missing in ${root}. It belongs to the repository: git checkout -- ${file}`,
    );
  }
}

function parse(file) {
  try {
    return JSON.parse(read(file));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new CannotStart(`${file} is not valid JSON: ${error.message}`);
  }
}

/** One that was installed on another kind of machine, or is half written, does not. */
function node24Runs() {
  if (!existsSync(node24)) return false;
  return realpathSync(node24) === process.execPath || spawnSync(node24, ["--version"]).status === 0;
}

async function install(noteGroup) {
  const wanted = fingerprint();
  const what = existsSync(stamp)
    ? "The locked packages have changed: installing them"
    : "Installing the locked packages";
  say(`${what} (once, about a minute) …`);
  const started = Date.now();
  const free = freeMegabytes();
  const { output, code, stoppedBy } = await npmCi(noteGroup, () => seconds(started));
  if (stoppedBy) {
    throw new CannotStart(
      "Stopped while installing. The next start installs anew.",
      128 + constants.signals[stoppedBy],
    );
  }
  if (code !== 0 || !node24Runs()) {
    process.stderr.write(output.replace(usage, ""));
    throw new CannotStart(`The packages could not be installed: ${reasonFor(output, code, free)}`);
  }
  writeFileSync(stamp, wanted);
  say(`Installed in ${seconds(started)} s.`);
}

const seconds = (since) => Math.round((Date.now() - since) / 1000);

// Whatever this user's settings are (NODE_ENV=production, --silent, --json), all that is locked, and errors as text.
// With npm's own pauses between tries a machine without a network would wait for more than a minute.
const npmArgs = [
  "ci --include=dev --include=optional --prefer-offline --no-audit --no-fund --no-progress --json=false",
  "--loglevel=error --fetch-retries=2 --fetch-retry-factor=3 --fetch-retry-mintimeout=2000",
].flatMap((line) => line.split(" "));

const usage = /npm error Clean install a project[\s\S]*?(?=npm error A complete log|$)/;

/** Runs `npm ci`, and resolves to what it wrote, its exit code, and the signal that we were stopped by, if any. */
function npmCi(noteGroup, elapsed) {
  // With the machine's own Node, since npm removes node_modules/.bin/node first. In a process group of its own, so
  // that stopping it stops its install scripts too.
  const env = { ...process.env, PATH: pathWithoutBins().join(delimiter) };
  const npm = spawn("npm", npmArgs, { cwd: root, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });

  return new Promise((done, fail) => {
    let output = "";
    let stoppedBy;
    // Without mercy: what it leaves is removed by the next `npm ci`, and asking takes npm seconds to hear.
    const stop = (signal) => {
      stoppedBy ??= signal;
      if (npm.pid && isAlive(-npm.pid)) process.kill(-npm.pid, "SIGKILL");
    };
    const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"];
    for (const signal of stopSignals) process.on(signal, stop);

    const hint = process.stderr.isTTY
      ? setInterval(() => process.stderr.write(`\r… ${elapsed()} s`), 1_000)
      : undefined;
    const finish = () => {
      for (const signal of stopSignals) process.off(signal, stop);
      clearInterval(hint);
      if (hint) process.stderr.write("\r\x1b[K");
    };

    for (const stream of [npm.stdout, npm.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    }
    npm.on("spawn", () => noteGroup(npm.pid));
    npm.on("error", (error) => {
      finish();
      const missing = new CannotStart("npm is not on the PATH. It comes with Node: https://nodejs.org");
      fail(error.code === "ENOENT" ? missing : error);
    });
    npm.on("close", (code) => {
      finish();
      done({ output, code, stoppedBy });
    });
  });
}

/** npm does not always name a full disk, and has removed what filled it when it ends. */
function freeMegabytes() {
  const { bavail, bsize } = statfsSync(root);
  return Math.floor((bavail * bsize) / 1e6);
}

function reasonFor(output, code, free) {
  if (code === 0) {
    return "node_modules/node/bin/node does not run. Its install script brings it; if npm is set to skip those: npm_config_ignore_scripts=false npm start";
  }
  const diskFull = `the disk is full: they need about 800 MB, and ${free} MB were free for ${root}.`;
  const reasons = [
    [/ENOSPC/, diskFull],
    [/EACCES|EPERM|EROFS/, `this user may not write everywhere in ${root} or in npm's cache.`],
    [/EINTEGRITY/, "a package is not the one that was locked. Perhaps the cache is broken: npm cache verify"],
    [/in sync|EUSAGE/, "package-lock.json and package.json disagree. Mend the lock file with: npm install"],
    [/\b(E401|E403|E404|ETARGET)\b/, "the registry does not have one of them, or refuses it."],
    [
      /CERT_|SELF_SIGNED|UNABLE_TO_|ERR_SSL/,
      "the registry is not trusted here: npm config set cafile <file>",
    ],
    [
      /ENOTFOUND|EAI_AGAIN|ECONN|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|SOCKET_TIMEOUT/,
      "the registry cannot be reached. Is there a network? Behind a proxy: npm config set proxy <url>",
    ],
  ];
  const known = reasons.find(([pattern]) => pattern.test(output));
  if (known) return known[1];
  return free < 800 ? diskFull : `npm ci ended with exit code ${code}, see above.`;
}
