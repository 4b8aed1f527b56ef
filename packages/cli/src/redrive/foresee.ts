import { type Ledger, readMoot } from "@owed/ledger";
import { mootText } from "../text/moot.ts";
import { counted } from "./counted.ts";
import type { Picked } from "./pick.ts";

/** Rows that are judged in one statement. */
const chunk = 5000;

export type Foreseen = {
  /** They would be owed again. */
  ids: string[];
  /** Why they died. */
  reasons: { reason: string; count: number }[];
  /** Why those that would be left are no longer true: the ledger's word. */
  moot: { reason: string; count: number }[];
  /** Named and not dead, and those that are no longer true: why, in words. */
  refused: { id: string; why: string }[];
};

/** What a redrive of these would do; nothing is done. */
export async function foresee(ledger: Ledger, picked: Picked): Promise<Foreseen> {
  const moot = new Map<string, string>();
  for (let from = 0; from < picked.rows.length; from += chunk) {
    const ids = picked.rows.slice(from, from + chunk).map(({ id }) => id);
    for (const [id, reason] of await readMoot(ledger, ids)) moot.set(id, reason);
  }
  const rows = picked.rows.filter(({ id }) => !moot.has(id));
  return {
    ids: rows.map(({ id }) => id),
    reasons: counted(rows.map(({ reason }) => reason)),
    moot: counted([...moot.values()]),
    refused: [...picked.refused, ...[...moot].map(([id, reason]) => ({ id, why: mootText(reason) }))],
  };
}
