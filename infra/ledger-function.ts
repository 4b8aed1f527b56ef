import type { Stage } from "./bundle.ts";
import { database, databaseRole, deployed } from "./database.ts";
import { createFunction, type FunctionOptions } from "./function.ts";
import { migrated } from "./migrate.ts";

/** A function that works on the ledger: as the database role `owed_<stage>`, and never before the schema it was written for. */
export const createLedgerFunction = (
  stage: Exclude<Stage, "migrate">,
  options: FunctionOptions,
): sst.aws.Function =>
  createFunction(stage, {
    ...options,
    link: [database, ...options.link],
    permissions: [
      ...(deployed
        ? [{ actions: ["rds-db:connect"], resources: [databaseRole(`owed_${stage}`, deployed)] }]
        : []),
      ...options.permissions,
    ],
    environment: { ...options.environment, ...(migrated && { MIGRATED: migrated }) },
  });
