import type { Ledger } from "../connect/ledger.ts";
import type { Act } from "../operate/refusal.ts";
import type { Mode } from "../states.ts";

export type ModeSet = {
  was: Mode;
  /** Sends of the old sender about events that the ledger has not heard of, and up to five of these events. */
  unheard: number;
  events: string[];
  /** Whose open transaction this waited for, three seconds and in vain; null: nobody's. */
  waitsFor: string | null;
  /** False: because of one of these the mode is as it was. */
  done: boolean;
};

export type SetMode = Act & {
  /** Also when the old sender has told of events that the ledger may still hear of, and would tell of again. */
  unheardToo: boolean;
  /** Changes nothing: `done` says whether the unheard events would let it. */
  dryRun: boolean;
};

/**
 * Changes who sends for a merchant, and records who did so. From then on its new notifications are in that mode; those
 * that wait follow with `moveHeld` and `holdRows`. Null: the ledger knows no such merchant.
 */
export async function setMode(
  ledger: Ledger,
  merchant: string,
  mode: Mode,
  { actor, why, unheardToo, dryRun }: SetMode,
): Promise<ModeSet | null> {
  const [row] = await ledger.run(
    (sql) => sql<ModeSet[]>`
      SELECT was, unheard, to_json(events) AS events, waits_for AS "waitsFor", done
      FROM owed.set_mode(${merchant}, ${mode}, ${unheardToo}, ${dryRun}, ${actor}, ${why})`,
    { repeatable: true },
  );
  return row ?? null;
}

/** The same for merchants that the ledger first hears of. */
export async function setNewMerchants(
  ledger: Ledger,
  mode: Mode,
  { actor, why, unheardToo, dryRun }: SetMode,
): Promise<ModeSet> {
  const [row] = await ledger.run(
    (sql) => sql<ModeSet[]>`
      SELECT was, unheard, to_json(events) AS events, waits_for AS "waitsFor", done
      FROM owed.set_new_merchants(${mode}, ${unheardToo}, ${dryRun}, ${actor}, ${why})`,
    { repeatable: true },
  );
  if (!row) throw new Error("the ledger did not say what it was");
  return row;
}
