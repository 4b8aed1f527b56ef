import type { Mistake } from "./mistake.ts";

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
];
