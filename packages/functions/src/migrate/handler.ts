import { fileURLToPath } from "node:url";
import middy from "@middy/core";
import { migrate } from "@owed/ledger";
import { createLogger } from "../observe.ts";
import { migratorOptions } from "./login.ts";

const logger = createLogger("migrate");

/** Copied beside the bundle on AWS; in the repository's own folder elsewhere. */
const folder = process.env.LAMBDA_TASK_ROOT
  ? `${process.env.LAMBDA_TASK_ROOT}/migrations`
  : fileURLToPath(new URL("../../../../migrations", import.meta.url));

/** Runs on each deployment, before what needs the schema. Returns the names of the migrations that ran. */
export const handler = middy({ timeoutEarlyInMillis: 0 }).handler(
  async (): Promise<{ applied: string[] }> => {
    const applied = await migrate(await migratorOptions(60), folder);
    logger.info("migrate", { applied });
    return { applied };
  },
);
