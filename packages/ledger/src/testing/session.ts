import postgres from "postgres";
import type { TestDatabase } from "../../../../tests/support/database.ts";

/** A session beside the others, of this name: what it scanned is counted apart until it is told, at its end at the latest. */
export function openSession({ options }: Pick<TestDatabase, "options">, name: string): postgres.Sql {
  const { host, port, user, password, database } = options;
  const access = { host, port, user, password, database };
  return postgres({ ...access, max: 1, connection: { application_name: name } });
}
