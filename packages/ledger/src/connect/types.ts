import type { PostgresType } from "postgres";

// The driver learns array types by a query of its own, whose failure kills the process; these are the ones
// the ledger's statements take, written out instead (oids from PostgreSQL's pg_type.dat).

const element = (value: unknown): string => {
  if (value === null || value === undefined) return "NULL";
  const text = value instanceof Date ? value.toISOString() : String(value);
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
};

const arrayOf = (oid: number): PostgresType<readonly unknown[]> => ({
  to: oid,
  from: [],
  serialize: (values: readonly unknown[]) => `{${values.map(element).join(",")}}`,
  parse: () => {
    throw new Error("the ledger's statements return no arrays");
  },
});

export const arrayTypes = {
  booleans: arrayOf(1000),
  integers: arrayOf(1007),
  texts: arrayOf(1009),
  bigints: arrayOf(1016),
  doubles: arrayOf(1022),
  timestamps: arrayOf(1185),
  uuids: arrayOf(2951),
};
