import { NotAllowed, NotificationNotFound } from "../connect/errors.ts";
import type { Ledger } from "../connect/ledger.ts";
import type { State } from "../states.ts";

/** Who does what, and why: recorded with the row. */
export type Act = { actor: string; why: string };

/** The error that says why a person's write changed nothing. */
export async function refusal(ledger: Ledger, id: string, verb: string, allowed: string): Promise<Error> {
  const [row] = await ledger.run(
    (sql) => sql<{ state: State; archived: boolean }[]>`
      SELECT state, NOT EXISTS (SELECT FROM owed.notification WHERE id = ${id}) AS archived
      FROM owed.notification_ever WHERE id = ${id}`,
    { repeatable: true },
  );
  if (!row) return new NotificationNotFound(id);
  if (row.archived)
    return new NotAllowed(
      `notification ${id} is ${row.state} and in the archive, where nothing is ${verb}: record a new event if it must be told again`,
    );
  return new NotAllowed(`notification ${id} is ${row.state} and can't be ${verb}: ${allowed}`);
}
