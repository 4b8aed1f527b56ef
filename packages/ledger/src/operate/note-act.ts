import type { Ledger } from "../connect/ledger.ts";

/** Who did something, and why, where a reason may be left out. */
export type Said = { actor: string; why: string | null };

/** Keeps what a person did to a queue: SQS keeps neither who nor why. `subject`: which queue, and how many of its messages. */
export async function noteAct(
  ledger: Ledger,
  did: "redrove" | "gave_back",
  subject: string,
  { actor, why }: Said,
): Promise<void> {
  await ledger.run(
    (sql) =>
      sql`INSERT INTO owed.act (actor, did, subject, why) VALUES (${actor}, ${did}, ${subject}, ${why})`,
    { repeatable: false },
  );
}
