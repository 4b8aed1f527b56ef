import type { Mistake } from "./mistake.ts";

/** The second is half an hour later than it looks. */
const twice = [{ to: "2026-11-20T09:00:00Z" }, { to: "2026-11-21T09:30:00-00:30" }];

export const databaseMistakes: Mistake[] = [
  {
    name: "a public database",
    edits: [["database.ts", "publiclyAccessible: false", "publiclyAccessible: true"]],
    rule: "the database is not public",
  },
  {
    name: "a database that is not encrypted",
    edits: [["database.ts", "storageEncrypted: true", "storageEncrypted: false"]],
    rule: "the database is encrypted",
  },
  {
    name: "connections without TLS",
    edits: [["database-parameters.ts", '"rds.force_ssl": "1"', '"rds.force_ssl": "0"']],
    rule: "the database forces TLS",
  },
  {
    name: "deletion protection off in production",
    edits: [["database.ts", "deletionProtection: production", "deletionProtection: false"]],
    rule: "production's database can't be deleted by mistake",
  },
  {
    name: "no backups",
    edits: [["database.ts", "backupRetentionPeriod: backupDays", "backupRetentionPeriod: 0"]],
    rule: "the database is backed up",
  },
  {
    name: "too many connections",
    edits: [["database-parameters.ts", "String(settings.database.maxConnections)", '"40"']],
    rule: "all connections together leave a fifth of max_connections",
  },
  {
    name: "a restore from the first database instead of the last",
    settings: { database: { restores: twice } },
    edits: [
      ["database.ts", "sourceDbInstanceIdentifier: last.identifier", "sourceDbInstanceIdentifier: prefix"],
    ],
    rule: "a restored database is put back from the one before it, to the time that was asked for",
  },
  {
    name: "a restore to a time with an offset, which the provider refuses",
    settings: { database: { restores: twice } },
    edits: [["database.ts", "restoreTime: inUtc(to)", "restoreTime: to"]],
    rule: "a restored database is put back from the one before it, to the time that was asked for",
  },
  {
    name: "a restore that names its database",
    settings: { database: { restores: twice } },
    edits: [["database.ts", "        ...named(`", "        dbName: databaseName,\n        ...named(`"]],
    rule: "a restored database is given nothing that it has from the backup",
  },
  {
    name: "a restored database that anybody may delete",
    settings: { database: { restores: twice } },
    edits: [["database.ts", "        ...named(`", "        deletionProtection: false,\n        ...named(`"]],
    rule: "a restored database is otherwise as the first",
  },
  {
    name: "functions that stay with the first database",
    settings: { database: { restores: twice } },
    edits: [["database.ts", "    last = new aws", "    void new aws"]],
    rule: "everything uses the database that was put back last",
  },
  {
    name: "a restored database that is not migrated",
    settings: { database: { restores: twice } },
    edits: [["migrate.ts", "database: instance.resourceId,", ""]],
    rule: "everything uses the database that was put back last",
  },
];
