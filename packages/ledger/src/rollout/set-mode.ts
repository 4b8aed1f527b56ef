import type { Ledger } from "../connect/ledger.ts";
import type { Act } from "../operate/refusal.ts";
import type { Mode } from "../states.ts";

export type ModeSet = {
  was: Mode;
  /** Sends of the old sender about events that the ledger has not heard of. */
  unheard: number;
  /** False: because of these the mode is as it was. */
  done: boolean;
};

/**
 * Changes who sends for a merchant, and records who did so. From then on its new notifications are in that mode; those
 * that wait follow with `moveHeld` and `holdRows`. With `unheardToo` it does not matter that the old sender has told of
 * events that the ledger may still hear of, and would tell of again. Null: the ledger knows no such merchant.
 */
export async function setMode(
  ledger: Ledger,
  merchant: string,
  mode: Mode,
  { actor, why, unheardToo }: Act & { unheardToo: boolean },
): Promise<ModeSet | null> {
  const [row] = await ledger.run(
    (sql) => sql<ModeSet[]>`
      SELECT was, unheard, done FROM owed.set_mode(${merchant}, ${mode}, ${unheardToo}, ${actor}, ${why})`,
    { repeatable: true },
  );
  return row ?? null;
}

/** Says who sends for merchants that the ledger first hears of. Returns what it was. */
export async function setNewMerchants(ledger: Ledger, mode: Mode, { actor, why }: Act): Promise<Mode> {
  const [row] = await ledger.run(
    (sql) => sql<{ was: Mode }[]>`SELECT owed.set_new_merchants(${mode}, ${actor}, ${why}) AS was`,
    { repeatable: true },
  );
  if (!row) throw new Error("the ledger did not say what it was");
  return row.was;
}
