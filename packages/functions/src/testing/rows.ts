import { defaultDurations as durations, type Leased, lease, markQueued } from "@owed/ledger";
import type { TestDatabase } from "../../../../tests/support/database.ts";
import { happen, owe, registerShipment, tellEveryUpdate } from "../../../../tests/support/shipment.ts";
import { messageOf } from "../publish/message.ts";
import { type RecordOptions, recordOf } from "./records.ts";

export type Row = {
  id: string;
  state: string;
  generation: number;
  attempts: number;
  reason: string | null;
  evidence: string | null;
  outcome: string;
  provider_message_id: string | null;
  rescues: number;
  resends: number;
  lease_token: number;
};

/** The rows of these notifications, in the order of the ids given. */
export async function readRows({ sql }: Pick<TestDatabase, "sql">, ids: readonly string[]): Promise<Row[]> {
  const rows = await sql<
    Row[]
  >`SELECT * FROM owed.notification WHERE id = ANY(${sql.array([...ids])}::uuid[])`;
  return ids.flatMap((id) => rows.filter((row) => row.id === id));
}

export async function readRow(database: Pick<TestDatabase, "sql">, id: string): Promise<Row> {
  const [row] = await readRows(database, [id]);
  if (!row) throw new Error(`there is no row ${id}`);
  return row;
}

/** The states of these rows, in their order. */
export const statesOf = async (
  database: Pick<TestDatabase, "sql">,
  rows: readonly Leased[],
): Promise<string[]> => (await readRows(database, idsOf(rows))).map(({ state }) => state);

export const idsOf = (rows: readonly Leased[]): string[] => rows.map(({ id }) => id);

/** How many rows are in each state. */
export async function countStates({ sql }: Pick<TestDatabase, "sql">): Promise<Record<string, number>> {
  const rows = await sql<{ state: string; rows: number }[]>`
    SELECT state, count(*)::int AS rows FROM owed.notification GROUP BY state`;
  return Object.fromEntries(rows.map((row) => [row.state, row.rows]));
}

/** The states of a channel's rows in the order in which they became owed, run by run: `queued 3, pending 2`. */
export async function statesInOrder({ sql }: Pick<TestDatabase, "sql">, channel: string): Promise<string> {
  const rows = await sql<{ state: string }[]>`
    SELECT state FROM owed.notification WHERE channel = ${channel} ORDER BY due_at, id`;
  const runs: [string, number][] = [];
  for (const { state } of rows) {
    const last = runs.at(-1);
    if (last?.[0] === state) last[1] += 1;
    else runs.push([state, 1]);
  }
  return runs.map((run) => run.join(" ")).join(", ");
}

/** The kinds of a row's tries, in order. */
export async function readTries({ sql }: Pick<TestDatabase, "sql">, id: string): Promise<string[]> {
  const tries = await sql<{ kind: string }[]>`
    SELECT kind FROM owed.attempt WHERE notification_id = ${id} ORDER BY id`;
  return tries.map(({ kind }) => kind);
}

/** Empties the ledger of events and of what is owed, and gives the heartbeat back. */
export async function empty({ sql }: Pick<TestDatabase, "sql">): Promise<void> {
  // Faster than TRUNCATE for the few rows of a test.
  const tables = [
    "attempt",
    "suppression",
    "notification",
    "event",
    "claim_mark",
    "sweep_run",
    "refused_event",
  ];
  await sql.unsafe(
    `${tables.map((table) => `DELETE FROM owed.${table}`).join("; ")};
     UPDATE owed.heartbeat SET holder = NULL, held_until = NULL, paused_at = NULL, paused_by = NULL, queue_empty_since = NULL,
       beat_at = NULL, beating_since = now() - interval '1 day';
     UPDATE owed.channel SET rate = NULL, quota = NULL, used = NULL, limits_read_at = NULL, failures = 0, openings = 0,
       closed_at = NULL, closed_until = NULL, closed_for = NULL, closed_why = NULL, evidence_late_at = NULL`,
  );
}

/** Leases all that is owed, as a sweep does. */
export async function leaseAll({ ledger }: Pick<TestDatabase, "ledger">): Promise<Leased[]> {
  const options = { shares: [{ channel: "email", most: 10_000 }], watermark: null, fresh: null };
  return (await lease(ledger, durations, options)).leased;
}

/** Owes `rows` notifications, each to another recipient, and queues them as a sweep does. */
export async function oweAndQueue(database: TestDatabase, rows: number): Promise<Leased[]> {
  const shipments = await owe(database, rows);
  return queueRowsOf(database, shipments);
}

export async function oweOneAndQueue(database: TestDatabase): Promise<Leased> {
  return only(await oweAndQueue(database, 1));
}

/** The one row that there is. */
export function only([row]: readonly Leased[]): Leased {
  if (!row) throw new Error("nothing is owed");
  return row;
}

/** Owes one recipient `rows` notifications about one shipment, oldest first, and queues them. */
export async function oweGroupAndQueue(database: TestDatabase, rows: number): Promise<Leased[]> {
  const shipment = await registerShipment(database);
  await tellEveryUpdate(database, shipment);
  for (let ago = rows; ago > 0; ago -= 1) await happen(database, shipment, "out_for_delivery", ago);
  return queueRowsOf(database, [shipment]);
}

async function queueRowsOf(database: TestDatabase, shipments: readonly string[]): Promise<Leased[]> {
  const { ledger, sql } = database;
  const leased = await leaseAll(database);
  await markQueued(ledger, durations, leased);
  const wanted = await sql<{ id: string }[]>`
    SELECT n.id FROM owed.notification n JOIN owed.event e ON e.key = n.event_key
    WHERE e.shipment_id = ANY(${sql.array([...shipments])}::text[])`;
  const ids = new Set(wanted.map(({ id }) => id));
  return leased.filter(({ id }) => ids.has(id));
}

/** A row's message, as the queue hands it to a worker. */
export function messageFor(row: Pick<Leased, "id" | "generation" | "group">, options: RecordOptions = {}) {
  const { MessageBody = "", MessageGroupId = "" } = messageOf({ ...row, token: 0 }, 0);
  return recordOf(MessageBody, { group: MessageGroupId, ...options });
}
