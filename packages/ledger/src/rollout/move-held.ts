import type { Ledger } from "../connect/ledger.ts";
import type { Act } from "../operate/refusal.ts";
import type { Mode } from "../states.ts";

/** What became of a row in a step. */
export type Moved = {
  id: string;
  /**
   * `moved`; `settled`: the old sender had sent it, and it is delivered; `claimed`: the old sender is at work on it;
   * `past`: it was due before, nobody sent it, and nobody said what is to become of it; `cancelled`; `kept`: not concerned.
   */
  did: "moved" | "settled" | "claimed" | "past" | "cancelled" | "kept";
};

export type Step = {
  rows: Moved[];
  /** After which shipment the next step begins; null: there is none. */
  next: string | null;
};

export type MoveHeld = Act & {
  merchant: string;
  /** The merchant's mode, which the rows follow. Once it is another, no row moves. */
  mode: Mode;
  /** When the cutover began, by the database's clock: what was due by then is `past`. */
  since: string;
  past: "send" | "cancel" | null;
  /** After which of the merchant's shipments the step begins; '' for the first. */
  after: string;
  /** Shipments in a step. */
  most: number;
};

type Row = { id: string | null; did: Moved["did"] | null; next: string | null };

/** One step of what the old sender holds of a merchant: it becomes Owed's, or is held in the other mode. */
export async function moveHeld(ledger: Ledger, options: MoveHeld): Promise<Step> {
  const { merchant, mode, since, past, after, most, actor, why } = options;
  const rows = await ledger.run(
    (sql) => sql<Row[]>`
      SELECT id, did, next FROM owed.move_held(${merchant}, ${mode}, ${since}::text::timestamptz, ${past}, ${after}, ${most}, ${actor}, ${why})`,
    { repeatable: true },
  );
  return stepOf(rows);
}

/** One step back: what Owed has not begun with is held for the old sender; the rest is `kept`. */
export async function holdRows(
  ledger: Ledger,
  { merchant, mode, after, most }: Pick<MoveHeld, "merchant" | "mode" | "after" | "most">,
): Promise<Step> {
  const rows = await ledger.run(
    (sql) => sql<Row[]>`SELECT id, did, next FROM owed.hold_rows(${merchant}, ${mode}, ${after}, ${most})`,
    { repeatable: true },
  );
  return stepOf(rows);
}

const stepOf = (rows: readonly Row[]): Step => ({
  rows: rows.flatMap(({ id, did }) => (id && did ? [{ id, did }] : [])),
  next: rows.find(({ next }) => next !== null)?.next ?? null,
});
