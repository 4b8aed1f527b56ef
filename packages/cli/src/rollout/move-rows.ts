import { holdRows, type Ledger, type Mode, type Moved, moveHeld, type Step } from "@owed/ledger";

/** What became of a merchant's rows, and those that the old sender is still at work on. */
export type Fates = Record<Moved["did"], number> & { claimedIds: string[] };

type Move = {
  merchant: string;
  mode: Mode;
  since: string;
  past: "send" | "cancel" | null;
  actor: string;
  why: string;
};

/** Shipments in a transaction: short enough that nobody waits for it. */
const most = 500;

/**
 * Lets a merchant's rows follow its mode, in short transactions. A row is in one sender's hands all the while; a run that
 * broke off is simply run again. `onStep` is told how many rows were looked at.
 */
export async function moveRows(ledger: Ledger, move: Move, onStep: (rows: number) => void): Promise<Fates> {
  const fates: Fates = { moved: 0, settled: 0, claimed: 0, past: 0, cancelled: 0, kept: 0, claimedIds: [] };
  let looked = 0;
  const walk = async (step: (after: string) => Promise<Step>) => {
    for (let after: string | null = ""; after !== null; ) {
      const { rows, next }: Step = await step(after);
      for (const { id, did } of rows) {
        fates[did] += 1;
        if (did === "claimed") fates.claimedIds.push(id);
      }
      looked += rows.length;
      onStep(looked);
      after = next;
    }
  };
  await walk((after) => moveHeld(ledger, { ...move, after, most }));
  if (move.mode !== "owed") await walk((after) => holdRows(ledger, { ...move, after, most }));
  return fates;
}
