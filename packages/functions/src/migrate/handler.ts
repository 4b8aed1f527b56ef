import { fileURLToPath } from "node:url";
import middy from "@middy/core";
import { migrate } from "@owed/ledger";
import { createLogger } from "../observe.ts";
import { byAnyLogin, migratorLogins } from "./login.ts";

const logger = createLogger("migrate");

/** Copied beside the bundle on AWS; in the repository's own folder elsewhere. */
const folder = process.env.LAMBDA_TASK_ROOT
  ? `${process.env.LAMBDA_TASK_ROOT}/migrations`
  : fileURLToPath(new URL("../../../../migrations", import.meta.url));

/** Seconds that another runner is waited for, and that one migration may take: both below the function's timeout. */
const runnerTimeout = 120;
const deadline = 150;

/** Runs on each deployment, before what needs the schema. Returns the names of the migrations that ran. */
export const handler = middy({ timeoutEarlyInMillis: 0 }).handler(
  async (): Promise<{ applied: string[] }> => {
    const applied = await byAnyLogin(migratorLogins(deadline), (options) =>
      migrate(options, folder, { runnerTimeout }),
    );
    logger.info("migrate", { applied });
    return { applied };
  },
);
