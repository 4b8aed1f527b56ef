import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parameters } from "./database-parameters.ts";
import { network, tcp } from "./network.ts";
import { prefix, production, region, settings } from "./stage.ts";

/**
 * The ledger. Functions log in with tokens that IAM signs: nobody knows a password but RDS, which keeps the master's in
 * Secrets Manager, changes it each week, and tells it to migrate alone. No RDS Proxy: a session that sets anything is
 * pinned to its connection, which leaves nothing to share; the connections are capped instead.
 *
 * t4g.micro with 20 GB is $14 a month, t4g.small with 50 GB in two zones $58 (us-east-1, 2026).
 */
export const deployed = network && create(network);

/** What the functions are told of it. */
export const database = new sst.Linkable("Database", {
  properties: deployed
    ? {
        host: deployed.address,
        port: deployed.port,
        database: deployed.dbName,
        tls: "verify",
        auth: "iam",
        region,
      }
    : readDeveloper(),
});

function create({ vpc, functions }: NonNullable<typeof network>) {
  const { version, instance, multiAz, storage, mostStorage, backupDays, insights } = settings.database;
  const clients = vpc.nodes.bastionSecurityGroup.apply((bastion) =>
    bastion ? [functions.id, bastion.id] : [functions.id],
  );
  const securityGroup = new aws.ec2.SecurityGroup("DatabaseSecurityGroup", {
    description: "Database",
    vpcId: vpc.id,
    ingress: [tcp(5432, { securityGroups: clients })],
  });
  const subnetGroup = new aws.rds.SubnetGroup("DatabaseSubnetGroup", {
    name: prefix,
    subnetIds: vpc.privateSubnets,
  });
  const parameterGroup = new aws.rds.ParameterGroup("DatabaseParameterGroup", {
    name: `${prefix}-postgres${version}`,
    family: `postgres${version}`,
    parameters,
  });
  return new aws.rds.Instance(
    "DatabaseInstance",
    {
      identifier: prefix,
      engine: "postgres",
      engineVersion: version,
      instanceClass: `db.${instance}`,
      dbName: "owed",
      username: "postgres",
      manageMasterUserPassword: true,
      iamDatabaseAuthenticationEnabled: true,
      dbSubnetGroupName: subnetGroup.name,
      vpcSecurityGroupIds: [securityGroup.id],
      publiclyAccessible: false,
      caCertIdentifier: "rds-ca-rsa2048-g1",
      parameterGroupName: parameterGroup.name,
      storageType: "gp3",
      storageEncrypted: true,
      allocatedStorage: storage,
      maxAllocatedStorage: mostStorage,
      multiAz,
      backupRetentionPeriod: backupDays,
      copyTagsToSnapshot: true,
      deleteAutomatedBackups: !production,
      deletionProtection: production,
      skipFinalSnapshot: !production,
      ...(production && { finalSnapshotIdentifier: `${prefix}-final` }),
      // In production a restart waits for the maintenance window; an outage is never a deployment's by-product.
      applyImmediately: !production,
      allowMajorVersionUpgrade: false,
      autoMinorVersionUpgrade: true,
      performanceInsightsEnabled: insights,
    },
    // Neither a changed program nor `sst remove` takes it along.
    { protect: production, retainOnDelete: production },
  );
}

/** Under `sst dev`: the database on this machine. */
function readDeveloper(): Record<string, unknown> {
  const file = ".owed/dev/database.json";
  try {
    return JSON.parse(readFileSync(join($cli.paths.root, file), "utf8"));
  } catch (cause) {
    throw new Error(
      `sst dev works on a database of this machine, and ${file} says of none: run npm run dev:db first`,
      {
        cause,
      },
    );
  }
}
