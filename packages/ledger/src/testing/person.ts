import type { TestDatabase } from "../../../../tests/support/database.ts";
import { happen } from "../../../../tests/support/shipment.ts";
import { accepted, claimRow, recordOne } from "./act.ts";
import { readRows } from "./rows.ts";

type Database = Pick<TestDatabase, "ledger" | "sql">;

let shipments = 0;
export type Who = { address: string; name?: string; recipient?: string; channel?: string };

/** Has somebody watch a shipment, a new one unless one is given. Returns its id. */
export async function watch(
  { sql }: Database,
  { address, name = "Ann Lee", recipient = "buyer-1", channel = "email" }: Who,
  shipment = `S-${++shipments}`,
): Promise<string> {
  await sql`SELECT owed.register_shipment(${shipment}, 'M-1', 'Shop', 'T-1')`;
  await sql`SELECT owed.subscribe(${shipment}, ${recipient}, 'buyer', ${channel}, ${address}, ${name})`;
  return shipment;
}

/** Tells a shipment's buyer that it was picked up. Returns the notification's id. */
export async function tell(database: Database, shipment: string): Promise<string> {
  await happen(database, shipment, "picked_up");
  const id = (await readRows(database, shipment)).at(-1)?.id ?? "";
  const { token } = await claimRow(database, id);
  await recordOne(database, id, token, { ...accepted, providerMessageId: `P-${id}` });
  return id;
}

/** Whatever the database holds, as text in lower case; bytes are decoded as far as they are ASCII. */
export async function everything({ sql }: Pick<TestDatabase, "sql">): Promise<string> {
  const columns = await sql<{ table: string; columns: string }[]>`
    SELECT c.relname AS table, string_agg(CASE WHEN a.atttypid = 'bytea'::regtype
      THEN format('encode(%I, ''escape'')', a.attname) ELSE format('%I::text', a.attname) END, ', ') AS columns
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relnamespace = 'owed'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped GROUP BY 1`;
  const texts = await Promise.all(
    columns.map(({ table, columns: all }) =>
      sql.unsafe<{ all: string }[]>(
        `SELECT string_agg(concat_ws(' ', ${all}), ' ') AS all FROM owed.${table}`,
      ),
    ),
  );
  return texts
    .flat()
    .map(({ all }) => all ?? "")
    .join(" ")
    .toLowerCase();
}

/** As no person was ever known. */
export const forgetEverybody = ({ sql }: Pick<TestDatabase, "sql">) =>
  sql`TRUNCATE owed.notification_archive, owed.refused_event, owed.erasure, owed.subscriber CASCADE`;
