import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { Failure, messageOf } from "./errors.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** The environment that the running local stack leaves for others on its machine. */
export const localFile = join(root, ".owed", "env.json");

/** What SST's `Resource` reads, in each of the ways that SST hands links over. */
const linked = ["SST_RESOURCE_App", "SST_RESOURCE_Database", "SST_RESOURCES_JSON", "SST_KEY_FILE"];

/**
 * Makes sure that `env` says where the ledger and the queues are: as it is under `sst shell`, else with what the
 * local stack left in `file`. Must come before the first use of SST's `Resource`. Returns what to try when
 * nothing answers. Throws `not_configured` when there is neither.
 */
export function configure(env: NodeJS.ProcessEnv = process.env, file = localFile): { hint: string } {
  // All or nothing: a local endpoint together with a deployment's database would be the worst of both.
  if (linked.some((name) => env[name])) return { hint: "the environment's SST links say where it is" };
  const shown = relative(process.cwd(), file) || file;
  const left = read(file, shown);
  // The SDK would take a profile's credentials before these.
  delete env.AWS_PROFILE;
  delete env.AWS_SESSION_TOKEN;
  Object.assign(env, left);
  return { hint: `${shown} says where it is: is the local stack still running? Start it with 'npm start'` };
}

function read(file: string, shown: string): Record<string, string> {
  const way = "start the local stack with 'npm start', or run under 'sst shell'";
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT")
      throw new Failure("not_configured", `nothing says where the ledger is: ${way}`);
    throw new Failure("not_configured", `${shown} can't be read (${messageOf(error)}); ${way}`);
  }
  const given = parse(text);
  if (!given)
    throw new Failure("not_configured", `${shown} is not a JSON object of texts: delete it, then ${way}`);
  return given;
}

function parse(text: string): Record<string, string> | null {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof given !== "object" || given === null || Array.isArray(given)) return null;
  const entries = Object.entries(given);
  return entries.every(([, value]) => typeof value === "string") ? Object.fromEntries(entries) : null;
}
