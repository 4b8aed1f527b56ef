import {
  claim,
  type DeliveryOutcome,
  defaultDurations as durations,
  type Leased,
  record,
} from "@owed/ledger";
import type { TestDatabase } from "../../../../tests/support/database.ts";
import { oweOneAndQueue } from "./rows.ts";

/** A worker's claim of a row; returns its token. */
export async function claimRow(
  { ledger }: Pick<TestDatabase, "ledger">,
  { id, generation }: Pick<Leased, "id" | "generation">,
  messageId = "M-1",
): Promise<number> {
  const [verdict] = await claim(ledger, durations, [{ id, generation, messageId, sentAt: Date.now() }]);
  if (verdict?.verdict !== "claimed") throw new Error(`not claimed: ${verdict?.verdict}`);
  return verdict.token;
}

/** A row that a worker has claimed by this message, and of which it recorded this outcome. */
export async function oweOneThatBecame(
  database: TestDatabase,
  outcome: DeliveryOutcome,
  messageId = "M-1",
): Promise<Leased> {
  const row = await oweOneAndQueue(database);
  const token = await claimRow(database, row, messageId);
  await record(database.ledger, durations, [{ id: row.id, token, outcome }]);
  return row;
}
