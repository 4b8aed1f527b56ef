import type { Ledger } from "../connect/ledger.ts";

/** What a person did to the sweeps, a channel, or a queue. What was done to a notification stands in its history. */
export type DoneAct = {
  at: Date;
  actor: string;
  did: "paused" | "resumed" | "closed" | "opened" | "redrove" | "gave_back";
  subject: string;
  why: string | null;
};

/** The last of them, newest first, at most `most`. */
export async function listActs(ledger: Ledger, most: number): Promise<DoneAct[]> {
  return ledger.run(
    (sql) => sql<DoneAct[]>`SELECT at, actor, did, subject, why FROM owed.act ORDER BY id DESC LIMIT ${most}`,
    { repeatable: true },
  );
}
