/** One install at a time in this folder: a lock file with the pids of those at work. */
import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Runs `work` while holding the lock file, and returns what it returns. `waiting` is called once when another
 * process holds it. `work` gets a function that notes the process group of a child in the lock.
 */
export async function alone(file, waiting, work) {
  mkdirSync(dirname(file), { recursive: true });
  for (let told = false; !(await take(file)); await sleep(300)) {
    if (isStale(file)) rmSync(file, { force: true });
    else if (!told) {
      waiting();
      told = true;
    }
  }
  // Touched each second, so that one left behind shows its age.
  const beat = setInterval(() => utimesSync(file, new Date(), new Date()), 1_000);
  try {
    return await work((group) => writeFileSync(file, `${process.pid} ${-group}`));
  } finally {
    clearInterval(beat);
    rmSync(file, { force: true });
  }
}

async function take(file) {
  try {
    writeFileSync(file, `${process.pid}`, { flag: "wx" });
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
  await sleep(50); // two who both found it stale may each have removed and made it: it is the last one's
  return holders(file).includes(process.pid);
}

/** After a `kill -9` its npm may still be at work: it is waited for, but no longer than two minutes. */
function isStale(file) {
  const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
  return age > 120_000 || (age > 1_000 && !holders(file).some(isAlive));
}

/** The pids in the lock file: of the process that holds it, and its child's process group as a negative number. */
function holders(file) {
  try {
    return readFileSync(file, "utf8").split(" ").map(Number).filter(Boolean);
  } catch (error) {
    if (error.code === "ENOENT") return [];
    throw error;
  }
}

/** Is there such a process, or (a negative number) any process of that group? */
export function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}
