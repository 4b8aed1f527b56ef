import { type Ledger, listDelivered, proveDelivery } from "@owed/ledger";
import type { SentEmail } from "../ses/index.ts";

export type Proof = {
  /** Notifications owed when the schedule was resumed. */
  owed: number;
  /** Of them, delivered by the ledger. */
  delivered: number;
  /** Owed, but without an email, or not delivered by the ledger. */
  lost: number;
  /** Emails beyond the first for the same notification. */
  duplicates: number;
  /** Emails that no notification in the ledger accounts for. */
  strays: number;
  /** Notifications whose outcome was unknown at some time, and the resends that came of it. */
  unknown: number;
  possible_duplicates: number;
  emails: number;
  ok: boolean;
};

/**
 * Compares the two sides: what the ledger says was delivered, and what arrived in the mailbox. `expected`: how many
 * notifications the events owe; `asked`: how large the backlog should have been.
 */
export async function prove(
  ledger: Ledger,
  sent: readonly SentEmail[],
  { owed, expected, asked }: { owed: number; expected: number; asked: number },
): Promise<Proof> {
  const told = await proveDelivery(ledger);
  const delivered = new Set(await listDelivered(ledger));
  const emails = Map.groupBy(sent, (email) => email.tags.notification ?? "none");
  const arrived = [...delivered].filter((id) => emails.has(id)).length;
  const strays = [...emails.keys()].filter((id) => !delivered.has(id)).length;
  const duplicates = sent.length - emails.size;
  const lost = Math.max(told.rows, expected) - arrived;
  return {
    owed,
    delivered: told.delivered,
    lost,
    duplicates,
    strays,
    unknown: told.unknown,
    possible_duplicates: told.possibleDuplicates,
    emails: sent.length,
    ok: owed >= asked && lost === 0 && duplicates === 0 && strays === 0 && told.delivered === expected,
  };
}
