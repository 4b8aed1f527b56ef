import { NotAllowed, NotificationNotFound } from "../connect/errors.ts";
import type { Ledger } from "../connect/ledger.ts";
import type { State } from "../states.ts";

/** Who does what, and why: recorded with the row. */
export type Act = { actor: string; why: string };

/** The error that says why a person's write changed nothing. */
export async function refusal(ledger: Ledger, id: string, verb: string, allowed: string): Promise<Error> {
  const [row] = await ledger.run(
    (sql) => sql<{ state: State }[]>`SELECT state FROM owed.notification WHERE id = ${id}`,
    { repeatable: true },
  );
  if (!row) return new NotificationNotFound(id);
  return new NotAllowed(`notification ${id} is ${row.state} and can't be ${verb}: ${allowed}`);
}
