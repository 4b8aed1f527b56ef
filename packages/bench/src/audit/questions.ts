import {
  audit,
  defaultDurations,
  explainMoot,
  type Ledger,
  listUntold,
  type Notification,
  readChannels,
  readCircumstances,
  show,
} from "@owed/ledger";

/** What a random notification is asked by. */
export type Subject = { shipmentId: string; recipientId: string; id: string };

/** Random notifications, the archive's as well, and those that wait. */
export async function pickSubjects(ledger: Ledger, count: number): Promise<Subject[]> {
  const pick = (waiting: boolean, most: number) =>
    ledger.run(
      (sql) => sql<Subject[]>`
        SELECT n.id, e.shipment_id AS "shipmentId", s.recipient_id AS "recipientId"
        FROM (
          SELECT id, event_key, subscriber_id FROM owed.notification_ever
          WHERE ${!waiting} OR owed_at IS NOT NULL ORDER BY random() LIMIT ${most}) AS n
        JOIN owed.event e ON e.key = n.event_key
        JOIN owed.subscriber s ON s.id = n.subscriber_id`,
      { repeatable: true },
    );
  const waiting = await pick(true, Math.ceil(count / 10));
  return [...(await pick(false, count - waiting.length)), ...waiting];
}

/** What the ledger is asked for each kind of question, as `owed audit` and `owed show` ask. */
export const questions: Record<string, (ledger: Ledger, subject: Subject) => Promise<unknown>> = {
  "a shipment": (ledger, { shipmentId }) => answer(ledger, { shipmentId }),
  "a recipient of a shipment": (ledger, { shipmentId, recipientId }) =>
    answer(ledger, { shipmentId, recipientId }),
  "a notification": (ledger, { id }) => show(ledger, id),
};

async function answer(
  ledger: Ledger,
  question: { shipmentId: string; recipientId?: string },
): Promise<Notification[]> {
  const rows = await audit(ledger, question);
  if (rows.length === 0) throw new Error(`the ledger has nothing for ${JSON.stringify(question)}`);
  const open = rows.filter(({ state, attempts }) => state !== "delivered" && attempts > 0);
  for (const { id } of open) await show(ledger, id);
  const waiting = rows.filter(({ state }) => ["pending", "leased", "queued"].includes(state));
  if (waiting.length > 0) await readChannels(ledger, defaultDurations);
  await explainMoot(
    ledger,
    waiting.map(({ id }) => id),
  );
  await readCircumstances(ledger, question.shipmentId, []);
  await listUntold(ledger, question);
  return rows;
}
