import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parameters } from "./database-parameters.ts";
import { network, tcp } from "./network.ts";
import { arnOf, prefix, production, region, settings } from "./stage.ts";

/** The PostgreSQL database. A restored instance does not say its name. */
const databaseName = "owed";

/**
 * The ledger. Functions log in with tokens that IAM signs: nobody knows a password but RDS, which keeps the master's in
 * Secrets Manager, changes it each week, and tells it to migrate alone. No RDS Proxy: a session that sets anything is
 * pinned to its connection, which leaves nothing to share; the connections are capped instead.
 *
 * One that was put back to a point in time stands beside the one that it was put back from, and takes its place.
 *
 * t4g.micro with 20 GB is $14 a month, t4g.small with 50 GB in two zones $58 (us-east-1, 2026).
 */
export const deployed = network && create(network);

/** Who migrates. RDS keeps its password, and tells it to migrate alone. */
export const masterUser = "postgres";

/** One role of one database (Amazon RDS user guide, IAM policy for database access). */
export const databaseRole = (
  role: string,
  { resourceId }: NonNullable<typeof deployed>,
): $util.Output<string> => arnOf("rds-db", $interpolate`dbuser:${resourceId}/${role}`);

/** What the functions are told of it. */
export const database = new sst.Linkable("Database", {
  properties: deployed
    ? {
        host: deployed.address,
        port: deployed.port,
        database: databaseName,
        tls: "verify",
        auth: "iam",
        region,
      }
    : readDeveloper(),
});

function create({ vpc, functions }: NonNullable<typeof network>) {
  const { version, storage, clients, restores } = settings.database;
  const groups = vpc.nodes.bastionSecurityGroup.apply((bastion) => [
    functions.id,
    ...(bastion ? [bastion.id] : []),
    ...clients.securityGroups,
  ]);
  const securityGroup = new aws.ec2.SecurityGroup("DatabaseSecurityGroup", {
    description: "Database",
    vpcId: vpc.id,
    ingress: [
      tcp(5432, { securityGroups: groups }),
      ...(clients.networks.length > 0 ? [tcp(5432, { cidrBlocks: clients.networks })] : []),
    ],
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
  const shared = instanceArgs(subnetGroup, securityGroup, parameterGroup);
  // Neither a changed program nor `sst remove` takes it along.
  const options = { protect: production, retainOnDelete: production };
  let last = new aws.rds.Instance(
    "DatabaseInstance",
    { ...shared, ...named(prefix), dbName: databaseName, username: masterUser, allocatedStorage: storage },
    options,
  );
  // A restored one has its database, user and storage from the backup: RDS refuses another name or less storage.
  // The provider would give up on it after 40 minutes, and RDS reads the backup and the log since.
  const patient = { ...options, customTimeouts: { create: "4h" } };
  for (const [place, { to }] of restores.entries()) {
    const number = place + 2;
    last = new aws.rds.Instance(
      `DatabaseInstance${number}`,
      {
        ...shared,
        ...named(`${prefix}-${number}`),
        restoreToPointInTime: { sourceDbInstanceIdentifier: last.identifier, restoreTime: inUtc(to) },
      },
      patient,
    );
  }
  return last;
}

/** What all instances have in common. */
function instanceArgs(
  subnetGroup: aws.rds.SubnetGroup,
  securityGroup: aws.ec2.SecurityGroup,
  parameterGroup: aws.rds.ParameterGroup,
) {
  const { version, instance, multiAz, mostStorage, backupDays, insights } = settings.database;
  return {
    engine: "postgres",
    engineVersion: version,
    instanceClass: `db.${instance}`,
    manageMasterUserPassword: true,
    iamDatabaseAuthenticationEnabled: true,
    dbSubnetGroupName: subnetGroup.name,
    vpcSecurityGroupIds: [securityGroup.id],
    publiclyAccessible: false,
    caCertIdentifier: "rds-ca-rsa2048-g1",
    parameterGroupName: parameterGroup.name,
    storageType: "gp3",
    storageEncrypted: true,
    maxAllocatedStorage: mostStorage,
    multiAz,
    backupRetentionPeriod: backupDays,
    copyTagsToSnapshot: true,
    deleteAutomatedBackups: !production,
    deletionProtection: production,
    skipFinalSnapshot: !production,
    // In production a restart waits for the maintenance window; an outage is never a deployment's by-product.
    applyImmediately: !production,
    allowMajorVersionUpgrade: false,
    autoMinorVersionUpgrade: true,
    performanceInsightsEnabled: insights,
  };
}

/** An instance's name, and that of the snapshot which it leaves. */
function named(identifier: string) {
  return { identifier, ...(production && { finalSnapshotIdentifier: `${identifier}-final` }) };
}

/** RDS takes UTC alone. */
function inUtc(time: string): string {
  return new Date(time).toISOString().replace(".000", "");
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
