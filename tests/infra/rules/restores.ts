import { metricsOf } from "../stack/metrics.ts";
import type { Stack } from "../stack/stack.ts";
import { alarmsOf, databasesOf, usedDatabase } from "../stack/views.ts";
import { type Rule, unless } from "./rule.ts";

const restoredOf = (stack: Stack) => databasesOf(stack).slice(1);

/** What a restore takes from the backup: RDS refuses the first for PostgreSQL, and the last where the backup has more. */
const fromBackup = ["dbName", "username", "password", "allocatedStorage"];

/** In what a restored instance may be otherwise than the first. */
const own = new Set([...fromBackup, "identifier", "finalSnapshotIdentifier", "restoreToPointInTime"]);

/** All that an instance is given, but for what is its own. */
const commonOf = (stack: Stack, name: string): string => {
  const inputs = stack.all("aws:rds/instance:Instance").find((one) => one.name === name)?.inputs ?? {};
  const common = Object.entries(inputs).filter(([field]) => !own.has(field));
  return JSON.stringify(Object.fromEntries(common.toSorted()));
};

/** Amazon RDS API reference, RestoreDBInstanceToPointInTime. */
export const restoreRules: Rule[] = [
  {
    name: "a restored database is put back from the one before it, to the time that was asked for",
    check: (stack) =>
      restoredOf(stack).flatMap(({ name, inputs }, place) => {
        const { sourceDbInstanceIdentifier: source, restoreTime = "" } = inputs.restoreToPointInTime ?? {};
        const before = databasesOf(stack)[place]?.inputs.identifier;
        const to = stack.settings.database.restores[place]?.to ?? "";
        return [
          ...(source === before ? [] : [`${name} is put back from ${source ?? "nothing"}, not ${before}`]),
          // The provider takes UTC alone.
          ...(restoreTime.endsWith("Z") && Date.parse(restoreTime) === Date.parse(to)
            ? []
            : [`${name} is put back to ${restoreTime || "no time"}, not ${to}`]),
        ];
      }),
  },
  {
    name: "a restored database is given nothing that it has from the backup",
    check: (stack) =>
      stack
        .all("aws:rds/instance:Instance")
        .filter(({ inputs }) => "restoreToPointInTime" in inputs)
        .flatMap(({ name, inputs }) =>
          fromBackup.filter((field) => field in inputs).map((field) => `${name} is given ${field}`),
        ),
  },
  {
    name: "a restored database is otherwise as the first",
    check: (stack) =>
      unless(
        restoredOf(stack),
        ({ name }) => commonOf(stack, name) === commonOf(stack, "DatabaseInstance"),
        ({ name }) => `${name} is made in another way`,
      ),
  },
  {
    name: "everything uses the database that was put back last",
    check: (stack) => {
      const used = usedDatabase(stack);
      if (!used) return [];
      const { identifier } = used.inputs;
      const watched = alarmsOf(stack)
        .flatMap(metricsOf)
        .filter(({ dimensions }) => "DBInstanceIdentifier" in dimensions);
      return [
        ...unless(
          stack.functions,
          ({ links: { Database } }) => JSON.stringify(Database).includes(`"${identifier}.`),
          ({ id }) => `${id} is linked to another`,
        ),
        ...unless(
          watched,
          ({ dimensions }) => dimensions.DBInstanceIdentifier === identifier,
          ({ by }) => `${by} watches another`,
        ),
        ...unless(
          stack.all("aws:lambda/invocation:Invocation"),
          ({ inputs }) => JSON.stringify(inputs.triggers).includes(`"db-${used.name.toUpperCase()}"`),
          ({ name }) => `${name} does not run again for it, and its schema may be older`,
        ),
      ];
    },
  },
];
