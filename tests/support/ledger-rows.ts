import { proveDelivery, type State } from "@owed/ledger";
import { expect } from "vitest";
import type { Cloud } from "./cloud.ts";
import { eventually } from "./eventually.ts";

export type Row = {
  id: string;
  state: State;
  generation: number;
  attempts: number;
  rescues: number;
  resends: number;
  evidence: string | null;
  outcome: string;
  reason: string | null;
  provider_message_id: string | null;
  shipment_id: string;
  status: string;
  template: string;
  address: string;
  group: string;
};

/** All rows of the ledger, in the order of their events. */
export const readRows = ({ sql }: Pick<Cloud, "sql">) => sql<Row[]>`
  SELECT n.id, n.state, n.generation, n.attempts, n.rescues, n.resends, n.evidence, n.outcome, n.reason,
    n.provider_message_id, e.shipment_id, e.status, r.template, s.address, n.subscriber_id::text AS group
  FROM owed.notification n
  JOIN owed.event e ON e.key = n.event_key
  JOIN owed.subscriber s ON s.id = n.subscriber_id
  JOIN owed.rule r ON r.id = n.rule_id
  ORDER BY e.occurred_at, n.id`;

/** The one row of a test that owes one. */
export async function readRow(cloud: Pick<Cloud, "sql">): Promise<Row> {
  const [row, ...more] = await readRows(cloud);
  if (!row || more.length > 0) throw new Error(`the ledger has ${row ? 1 + more.length : 0} rows`);
  return row;
}

/** How many rows are in each state. */
export async function countStates({ sql }: Pick<Cloud, "sql">): Promise<Partial<Record<State, number>>> {
  const rows = await sql<{ state: State; number: number }[]>`
    SELECT state, count(*)::int AS number FROM owed.notification GROUP BY state`;
  return Object.fromEntries(rows.map(({ state, number }) => [state, number]));
}

/** What is told of rows beside their state, by kind. */
export async function countAttempts({ sql }: Pick<Cloud, "sql">): Promise<Record<string, number>> {
  const rows = await sql<{ kind: string; number: number }[]>`
    SELECT kind, count(*)::int AS number FROM owed.attempt GROUP BY kind`;
  return Object.fromEntries(rows.map(({ kind, number }) => [kind, number]));
}

/** Waits until so many rows are delivered. */
export const delivered = ({ ledger }: Pick<Cloud, "ledger">, rows: number): Promise<void> =>
  eventually(async () => expect((await proveDelivery(ledger)).delivered).toBe(rows));

/** Waits until the states are counted so. */
export const statesAre = (cloud: Pick<Cloud, "sql">, states: Partial<Record<State, number>>): Promise<void> =>
  eventually(async () => expect(await countStates(cloud)).toEqual(states));

/** From both sides: the delivered rows' ids, and those that the emails in the mailbox carry, one an email. */
export async function expectOneEmailEach(
  { sql, ses }: Pick<Cloud, "sql" | "ses">,
  rows: number,
): Promise<void> {
  const ids = await sql<
    { id: string }[]
  >`SELECT id FROM owed.notification WHERE state = 'delivered' ORDER BY id`;
  expect(ids).toHaveLength(rows);
  expect(ses.sent.map((email) => email.tags.notification).toSorted()).toEqual(ids.map(({ id }) => id));
}
