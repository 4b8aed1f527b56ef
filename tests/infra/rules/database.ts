import type { Stack } from "../stack/stack.ts";
import { type Database, databaseNames, databasesOf, parameterGroupsOf } from "../stack/views.ts";
import { dynamicParameters, staticParameters } from "./parameters.ts";
import { type Rule, unless } from "./rule.ts";

const each = (
  name: string,
  holds: (inputs: Database["inputs"], stack: Stack) => boolean,
  fault: string,
): Rule => ({
  name,
  check: (stack) =>
    unless(
      databasesOf(stack),
      ({ inputs }) => holds(inputs, stack),
      (database) => `${database.name} ${fault}`,
    ),
});

const groupOf = (stack: Stack, { inputs }: Database) =>
  parameterGroupsOf(stack).find((group) => group.inputs.name === inputs.parameterGroupName);

/** Amazon RDS user guide, "Security", "Backing up", "PostgreSQL parameters", "Limits". */
export const databaseRules: Rule[] = [
  {
    name: "there is one database, another for each restore, and none under sst dev",
    check: (stack) => {
      const wanted = stack.dev ? [] : databaseNames(stack);
      const found = databasesOf(stack).map(({ name }) => name);
      return found.join() === wanted.join()
        ? []
        : [`the database instances are ${found.join(", ") || "none"}, not ${wanted.join(", ") || "any"}`];
    },
  },
  each("the database is encrypted", ({ storageEncrypted }) => storageEncrypted, "is not encrypted"),
  each("the database is not public", ({ publiclyAccessible }) => !publiclyAccessible, "has a public address"),
  {
    name: "the database forces TLS",
    check: (stack) =>
      databasesOf(stack).flatMap((database) => {
        const parameters = groupOf(stack, database)?.inputs.parameters ?? [];
        const forced = parameters.some(({ name, value }) => name === "rds.force_ssl" && value === "1");
        return forced ? [] : [`${database.name} takes connections without TLS: rds.force_ssl is not 1`];
      }),
  },
  each(
    "functions log in to the database by IAM",
    ({ iamDatabaseAuthenticationEnabled }) => iamDatabaseAuthenticationEnabled,
    "takes passwords alone",
  ),
  each(
    "the database is backed up",
    ({ backupRetentionPeriod }, stack) =>
      backupRetentionPeriod >= (stack.production ? 7 : 1) &&
      backupRetentionPeriod <= 35 &&
      backupRetentionPeriod === stack.settings.database.backupDays,
    "keeps too few days of backups, or not as many as the settings say",
  ),
  each(
    "production's database can't be deleted by mistake",
    ({ deletionProtection, skipFinalSnapshot, finalSnapshotIdentifier }, stack) =>
      !stack.production || (deletionProtection && !skipFinalSnapshot && Boolean(finalSnapshotIdentifier)),
    "has no deletion protection, or leaves no final snapshot",
  ),
  {
    name: "a deployment can't replace production's database",
    check: (stack) =>
      unless(
        stack.production ? databasesOf(stack) : [],
        ({ protect, retainOnDelete }) => protect && retainOnDelete,
        ({ name }) => `${name} is neither protected nor kept when it leaves the program`,
      ),
  },
  each(
    "the database's changes wait for the maintenance window in production",
    ({ applyImmediately, allowMajorVersionUpgrade }, stack) =>
      !stack.production || (!applyImmediately && !allowMajorVersionUpgrade),
    "is changed at once, or to another major version",
  ),
  each(
    "the database's storage can grow",
    ({ allocatedStorage, maxAllocatedStorage }) =>
      maxAllocatedStorage > 0 && maxAllocatedStorage >= 1.1 * allocatedStorage,
    "can't grow: RDS wants the most 10 % above what is allocated",
  ),
  each(
    "the database's CA is one that the functions know",
    ({ caCertIdentifier }) =>
      caCertIdentifier === undefined || /^rds-ca-(rsa2048|rsa4096|ecc384)-g1$/.test(caCertIdentifier),
    "has a certificate of another CA",
  ),
  each(
    "the database's identifier is one that RDS takes",
    ({ identifier }) => /^[a-z](-?[a-z0-9])*$/.test(identifier) && identifier.length <= 63,
    "has an identifier that RDS refuses: letters, digits and single hyphens, 63 at most",
  ),
  {
    name: "the database's parameters exist, and are applied as they can be",
    check: (stack) =>
      parameterGroupsOf(stack).flatMap(({ name, inputs }) =>
        inputs.parameters.flatMap((parameter) => {
          if (staticParameters.has(parameter.name)) {
            return parameter.applyMethod === "pending-reboot"
              ? []
              : [`${name}: ${parameter.name} takes effect at a reboot alone: applyMethod "pending-reboot"`];
          }
          return dynamicParameters.has(parameter.name)
            ? []
            : [`${name}: RDS has no parameter ${parameter.name}`];
        }),
      ),
  },
  {
    name: "the parameter group is of the database's version",
    check: (stack) =>
      databasesOf(stack).flatMap((database) => {
        const family = `postgres${database.inputs.engineVersion.split(".")[0]}`;
        const found = groupOf(stack, database)?.inputs.family;
        return found === family ? [] : [`${database.name} is of ${family}, its parameter group of ${found}`];
      }),
  },
  {
    name: "no RDS Proxy stands between: sessions would be pinned, and paid for twice",
    check: (stack) => stack.all("aws:rds/proxy:Proxy").map(({ name }) => `${name} is an RDS Proxy`),
  },
];
