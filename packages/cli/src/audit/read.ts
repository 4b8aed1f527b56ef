import {
  type Attempt,
  audit,
  type Circumstances,
  explainMoot,
  type Ledger,
  listUntold,
  type Notification,
  readCircumstances,
  show,
  type Untold,
} from "@owed/ledger";
import { type Answer, answers, type Grounds } from "../answer.ts";
import { mootOf, suppressionsOf, waits } from "../answer-cause.ts";
import { untoldText } from "../answer-untold.ts";
import { closedChannels } from "../closed.ts";
import { Failure } from "../errors.ts";
import { masked } from "../text/mask.ts";

/** Of which shipment, and of which of its recipients alone. */
export type Question = { shipmentId: string; recipientId?: string | undefined };

/** What the ledger answers, and on what grounds. Addresses are in full. */
export type Audit = Question & {
  answers: Answer[];
  untold: Untold[];
  rows: Notification[];
  grounds: Grounds;
  circumstances: Circumstances;
};

/**
 * Was this customer notified? For each event and recipient of a shipment, from the ledger alone.
 *
 * @throws Failure `not_found`: the ledger knows no such shipment, or nothing of the recipient
 */
export async function readAudit(ledger: Ledger, question: Question): Promise<Audit> {
  const { shipmentId, recipientId } = question;
  const rows = await audit(ledger, question);
  const grounds = await groundsOf(ledger, shipmentId, rows);
  const { circumstances } = grounds;
  const known = circumstances?.subscribers.some((one) => one.recipientId === recipientId);
  if (!circumstances || (recipientId !== undefined && rows.length === 0 && !known))
    throw nothing(question, circumstances);
  const untold = await listUntold(ledger, question);
  return { ...question, answers: answers(rows, grounds), untold, rows, grounds, circumstances };
}

/** As `owed audit --json` prints it; `full`: addresses are not masked. */
export const auditJson = ({ shipmentId, answers, untold, rows }: Audit, full: boolean) => ({
  shipmentId,
  answers,
  untold,
  notifications: rows.map((row) => masked(row, full)),
});

/** A sentence for each event and recipient; or one that says that there is nothing to answer. */
export function answerText({ shipmentId, recipientId, answers, circumstances }: Audit): string[] {
  if (answers.length > 0) return answers.map(({ sentence }) => sentence);
  return circumstances.events.length === 0
    ? [`The ledger has no event of shipment ${shipmentId}: nobody was to be told anything yet.`]
    : [`The ledger has no notification for ${recipientId ?? "anybody"} of shipment ${shipmentId}.`];
}

/** Who was told nothing, and why. */
export const untoldLines = ({ untold, recipientId }: Audit): string[] => untoldText(untold, recipientId);

async function groundsOf(
  ledger: Ledger,
  shipmentId: string,
  rows: readonly Notification[],
): Promise<Grounds> {
  const waiting = rows.filter((row) => waits(row) && row.mode === null);
  const moot = await explainMoot(
    ledger,
    waiting.map(({ id }) => id),
  );
  const suppressions = suppressionsOf(rows.map((row) => mootOf(row, moot)));
  return {
    tries: await triesOf(ledger, rows),
    closed: await closedChannels(ledger, rows),
    moot,
    circumstances: await readCircumstances(ledger, shipmentId, suppressions),
  };
}

/** The tries of those rows whose answer may rest on them: few have any. */
async function triesOf(ledger: Ledger, rows: readonly Notification[]): Promise<Map<string, Attempt[]>> {
  const open = ({ state, attempts }: Notification) => state !== "delivered" && attempts > 0;
  const asked = rows.filter((row) => row.evidence === "operator" || open(row));
  const tries = new Map<string, Attempt[]>();
  for (const { id } of asked) tries.set(id, (await show(ledger, id)).tries);
  return tries;
}

/** A name that is misspelt must not read as "No, not notified". */
function nothing({ shipmentId, recipientId }: Question, circumstances: Circumstances | null): Failure {
  if (!circumstances)
    return new Failure(
      "not_found",
      `the ledger knows no shipment ${shipmentId}: its id is another, or it was not registered`,
    );
  const known = [...new Set(circumstances.subscribers.map((one) => one.recipientId))].slice(0, 10);
  return new Failure(
    "not_found",
    `the ledger has nothing for recipient ${recipientId} of shipment ${shipmentId}; ${known.length > 0 ? `it has for ${known.join(", ")}` : "nobody is subscribed to it"}`,
  );
}
