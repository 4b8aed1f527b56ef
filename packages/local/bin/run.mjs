#!/usr/bin/env node
/**
 * Runs a program of this project on a machine that has only Node 20 and npm:
 *
 *   node packages/local/bin/run.mjs <file.ts | command of a package> [arguments]
 *
 * It installs the locked packages when they are missing or have changed, then starts the program with the
 * project's own Node 24 (the package `node`), first on PATH. Plain JavaScript and no packages: there may be none
 * yet. All it says goes to stderr, so that a program's `--json` on stdout stays clean.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { bins, CannotStart, ensureInstalled, node24, pathWithoutBins, root, say } from "./install.mjs";

const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"];

/** Starts the program and waits for it. Returns its exit code; 128 + the signal's number when a signal ended it. */
function run(target, args) {
  const isSource = /\.[cm]?[jt]s$/.test(target);
  const file = isSource ? resolve(root, target) : join(bins, target);
  if (!existsSync(file)) throw new CannotStart(`There is no ${file}`);
  const env = { ...process.env, PATH: [bins, ...pathWithoutBins()].join(delimiter) };
  // Node keeps the stripped TypeScript and its compiled code: a start takes half the time.
  if (isSource) env.NODE_COMPILE_CACHE ??= join(root, "node_modules", ".cache", "node");
  // A stage's database shows a certificate of RDS's own CAs, which Node does not know.
  env.NODE_EXTRA_CA_CERTS ??= join(root, "infra", "rds-ca.pem");
  const child = spawn(node24, [realpathSync(file), ...args], { cwd: root, env, stdio: "inherit" });

  const passedAt = new Map();
  const pass = (signal) => {
    // Ctrl-C goes to everyone in the terminal's foreground: the child has had it (and we get it twice, since npm
    // passes its own on). A child that is still there later was not told, because npm alone was (kill -INT).
    if (signal !== "SIGTERM" && isForeground()) return setTimeout(() => child.kill("SIGTERM"), 5_000).unref();
    if (Date.now() - (passedAt.get(signal) ?? 0) < 1_000) return;
    passedAt.set(signal, Date.now());
    child.kill(signal);
  };
  for (const signal of stopSignals) process.on(signal, pass);

  return new Promise((done, fail) => {
    child.on("error", fail);
    child.on("exit", (code, signal) => done(code ?? 128 + constants.signals[signal]));
  });
}

/** Are we in the foreground of a terminal, which signals us and the child together? */
function isForeground() {
  if (process.platform !== "linux") {
    return [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
  }
  const stat = readFileSync("/proc/self/stat", "utf8");
  const [, , group, , , foregroundGroup] = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // man 5 proc
  return group === foregroundGroup;
}

async function main([target, ...args]) {
  if (Number.parseInt(process.versions.node, 10) < 20) {
    throw new CannotStart(`Node 20 or newer is needed, and this is ${process.version}: https://nodejs.org`);
  }
  if (!target) {
    throw new CannotStart(
      "Usage: node packages/local/bin/run.mjs <file.ts | command of a package> [arguments]",
    );
  }
  await ensureInstalled();
  return run(target, args);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  // What the reader can mend, and what the system refused (EACCES, ENOSPC …), is one line; the rest is a fault of ours.
  if (!(error instanceof CannotStart) && !error.syscall) throw error;
  say(error instanceof CannotStart ? error.message : `Cannot start: ${error.message}`);
  process.exitCode = error.exitCode ?? 1;
}
