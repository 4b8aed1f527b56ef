import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { database, databaseRole, deployed, masterUser } from "./database.ts";
import { endpoints } from "./endpoints.ts";
import { createFunction } from "./function.ts";

/**
 * Brings the schema up on each deployment that changes it. The functions take the answer into their environment, so new
 * code never runs before its schema; the old code runs on beside it for a moment, which is why migrations only add.
 * None under `sst dev`: `npm run dev:db` keeps the developer's database up.
 *
 * @returns the schema's version: its newest migration, and what all of them hash to
 */
export const migrated = deployed && run(deployed);

function run(instance: NonNullable<typeof deployed>): $util.Output<string> {
  const masterSecret = new sst.Linkable("MasterSecret", {
    properties: { arn: instance.masterUserSecrets.apply(secretOf) },
  });
  const migrate = createFunction("migrate", {
    // Another deployment's runner is waited for.
    timeout: 300,
    link: [database, masterSecret],
    permissions: [
      { actions: ["secretsmanager:GetSecretValue"], resources: [masterSecret.properties.arn] },
      // RDS may refuse the password of a master that has made roles which log in by IAM: then a token does.
      { actions: ["rds-db:connect"], resources: [databaseRole(masterUser, instance)] },
    ],
  });
  const { version, hash } = readMigrations(join($cli.paths.root, "migrations"));
  const invocation = new aws.lambda.Invocation(
    "MigrateRun",
    {
      functionName: migrate.name,
      input: JSON.stringify({}),
      // The key holds the hash of its bundle: a runner that was mended runs again too. So does one whose database was put
      // back, to a schema of before perhaps.
      triggers: {
        migrations: hash,
        code: migrate.nodes.function.s3Key.apply((key) => key ?? ""),
        database: instance.resourceId,
      },
    },
    { dependsOn: endpoints },
  );
  return invocation.result.apply(() => `${version} ${hash.slice(0, 12)}`);
}

function secretOf([secret]: { secretArn: string }[]): string {
  if (secret) return secret.secretArn;
  throw new Error(
    "RDS keeps no master password of the database in use, which migrate needs: RDS console, Modify, Manage master credentials in AWS Secrets Manager; then sst refresh, and deploy again",
  );
}

function readMigrations(folder: string): { version: string; hash: string } {
  const files = readdirSync(folder)
    .filter((file) => /^\d+\.do\..*\.sql$/.test(file))
    .sort();
  const hash = createHash("sha256");
  for (const file of files)
    hash
      .update(file)
      .update("\0")
      .update(readFileSync(join(folder, file)))
      .update("\0");
  return { version: files.at(-1)?.split(".")[0] ?? "none", hash: hash.digest("hex") };
}
