import { randomUUID } from "node:crypto";
import type { TestDatabase } from "../../../../tests/support/database.ts";
import { registerShipment } from "../../../../tests/support/shipment.ts";
import type { Outcome, State } from "../states.ts";

export type Row = {
  id: string;
  channel: string;
  state: State;
  due_at: Date;
  send_by: Date | null;
  owed_at: Date | null;
  leased_until: Date | null;
  queued_at: Date | null;
  claimed_at: Date | null;
  died_at: Date | null;
  stopped_at: Date | null;
  delivered_at: Date | null;
  cancelled_at: Date | null;
  cancelled_by: string | null;
  mode: "old" | "shadow" | null;
  replays: string | null;
  lease_token: number;
  generation: number;
  attempts: number;
  rescues: number;
  resends: number;
  outcome: Outcome;
  message_id: string | null;
  sent_to: string | null;
  provider: string | null;
  provider_message_id: string | null;
  evidence: string | null;
  reason: string | null;
};

/** The states, with the two kinds of unknown, and of dead, told apart. */
export type Shape = State | "held" | "lost";

/** Columns and the SQL expressions they are set to. */
export type Columns = Partial<Record<keyof Row, string>>;

const inSeconds = (seconds: number) => `now() + make_interval(secs => ${seconds})`;
const claimed: Columns = { lease_token: "2", claimed_at: "now()", message_id: "'M-1'", attempts: "1" };

/** How a row looks in each state: what the ledger's own statements leave behind, in the shortest way. */
export const shapes: Record<Shape, Columns> = {
  pending: { owed_at: "now()" },
  leased: { lease_token: "1", leased_until: inSeconds(120), owed_at: inSeconds(120) },
  queued: { lease_token: "1", queued_at: "now()", owed_at: inSeconds(1200) },
  sending: { ...claimed, queued_at: "now()", leased_until: inSeconds(60), owed_at: inSeconds(1200) },
  unknown: { ...claimed, owed_at: inSeconds(900), reason: "'no_answer'" },
  held: { ...claimed, owed_at: "NULL", stopped_at: "now()", reason: "'no_answer'" },
  delivered: {
    ...claimed,
    owed_at: "NULL",
    delivered_at: "now()",
    evidence: "'reply'",
    outcome: "'accepted'",
    provider: "'ses'",
    provider_message_id: "'P-1'",
  },
  dead: { ...claimed, owed_at: "NULL", died_at: "now()", stopped_at: "now()", reason: "'refused'" },
  lost: {
    generation: "3",
    rescues: "3",
    queued_at: "now()",
    owed_at: "NULL",
    stopped_at: "now()",
    reason: "'lost'",
  },
  cancelled: { owed_at: "NULL", cancelled_at: "now()", reason: "'opted_out'" },
};

export const stateOf = (shape: Shape): State =>
  shape === "held" ? "unknown" : shape === "lost" ? "dead" : shape;

export const everyShape = Object.keys(shapes) as Shape[];

type Sql = Pick<TestDatabase, "sql">;

/** A notification to a buyer of a shipment of its own, in the shape given; `columns` go before the shape's. */
export async function newRow({ sql }: Sql, shape: Shape = "pending", columns: Columns = {}): Promise<string> {
  const shipment = await registerShipment({ sql });
  await sql`SELECT owed.record_event(${`E-${randomUUID()}`}, ${shipment}, 'out_for_delivery', clock_timestamp())`;
  const [row] = await sql<{ id: string }[]>`
    SELECT n.id FROM owed.notification n JOIN owed.event e ON e.key = n.event_key WHERE e.shipment_id = ${shipment}`;
  if (!row) throw new Error("the event owes nobody a notification");
  await reshape({ sql }, row.id, shape, columns);
  return row.id;
}

/** Puts a row into a shape, whatever it was. */
export async function reshape({ sql }: Sql, id: string, shape: Shape, columns: Columns = {}): Promise<void> {
  const all = {
    state: `'${stateOf(shape)}'`,
    cancelled_at: "NULL",
    cancelled_by: "NULL",
    ...shapes[shape],
    ...columns,
  };
  const assignments = Object.entries(all).map(([column, expression]) => `${column} = ${expression}`);
  await sql.unsafe(`UPDATE owed.notification SET ${assignments.join(", ")} WHERE id = $1::uuid`, [id]);
}

/** Has a row pending again that a newer event cancelled: as where somebody held it at that very moment. */
export const revive = ({ sql }: Sql, id: string) =>
  withoutTriggers(
    { sql },
    `UPDATE owed.notification SET state = 'pending', owed_at = due_at, cancelled_at = NULL, cancelled_by = NULL, reason = NULL
     WHERE id = '${id}' AND state = 'cancelled'`,
  );

/** Changes rules where they stand, as no version of the product ever does. */
export const rewriteRules = ({ sql }: Sql, assignments: string, where = "true") =>
  withoutTriggers({ sql }, `UPDATE owed.rule SET ${assignments} WHERE ${where}`);

const withoutTriggers = ({ sql }: Sql, statement: string) =>
  sql.begin(async (transaction) => {
    await transaction`SET LOCAL session_replication_role = replica`;
    await transaction.unsafe(statement);
  });

export async function readRow({ sql }: Sql, id: string): Promise<Row> {
  const [row] = await sql<Row[]>`SELECT * FROM owed.notification WHERE id = ${id}`;
  if (!row) throw new Error(`there is no row ${id}`);
  return row;
}

/** All of a shipment's rows, in the order of their ids. */
export const readRows = ({ sql }: Sql, shipment: string) => sql<Row[]>`
  SELECT n.* FROM owed.notification n JOIN owed.event e ON e.key = n.event_key WHERE e.shipment_id = ${shipment} ORDER BY n.id`;

/** The kinds of a row's tries, in order. */
export async function readTries({ sql }: Sql, id: string): Promise<string[]> {
  const tries = await sql<
    { kind: string }[]
  >`SELECT kind FROM owed.attempt WHERE notification_id = ${id} ORDER BY id`;
  return tries.map((attempt) => attempt.kind);
}

/** Seconds from now, by the database's clock, until a column's time; negative when it has passed. */
export async function secondsUntil({ sql }: Sql, id: string, column: keyof Row): Promise<number | null> {
  const [row] = await sql<{ seconds: number | null }[]>`
    SELECT extract(epoch FROM ${sql(column)} - clock_timestamp())::float8 AS seconds FROM owed.notification WHERE id = ${id}`;
  return row?.seconds ?? null;
}

/** The heartbeat and the channels of a ledger that nothing has happened to. */
export const asNew = `
  -- The schedule has been beating for long: nothing waits for a gap.
  UPDATE owed.heartbeat SET holder = NULL, held_until = NULL, paused_at = NULL, paused_by = NULL, paused_why = NULL,
    queue_empty_since = NULL, restored_at = NULL, beat_at = NULL, beating_since = now() - interval '1 day';
  UPDATE owed.channel SET rate = NULL, quota = NULL, used = NULL, limits_read_at = NULL, failures = 0, openings = 0,
    closed_at = NULL, closed_until = NULL, closed_for = NULL, closed_why = NULL, evidence_late_at = NULL;`;

/** Empties the ledger of what is owed, so that the next lease finds only a test's own rows. */
export async function empty({ sql }: Sql): Promise<void> {
  await sql`TRUNCATE owed.attempt, owed.suppression, owed.notification, owed.notification_archive, owed.old_send, owed.event, owed.claim_mark, owed.sweep_run CASCADE`;
  await sql.unsafe(asNew);
}
