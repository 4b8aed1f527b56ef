import { findNotified, type Ledger, type Notified, readCircumstances } from "@owed/ledger";
import { Failure } from "../errors.ts";
import type { Question } from "./read.ts";

/** What somebody knows of a customer. */
export type By = "shipment" | "recipient" | "address" | "message";

/** Who may be meant; `more`: there are others, which are not listed. */
export type Found = { matches: Notified[]; more: boolean };

/** That many are listed: whoever has more to choose from knows too little. */
const most = 100;

const nobody: Found = { matches: [], more: false };

/**
 * Whom a recipient's id, an address or a provider's message id means: the question to ask the ledger about it where it
 * means one shipment, the list of those it may mean where there are several. An empty list: nobody.
 */
export async function find(
  ledger: Ledger,
  by: Exclude<By, "shipment">,
  value: string,
): Promise<Question | Found> {
  const found = await findNotified(ledger, { by, value, most: most + 1 });
  const matches = found.slice(0, most);
  const [first] = matches;
  if (!first || matches.some(({ shipmentId }) => shipmentId !== first.shipmentId))
    return { matches, more: found.length > most };
  const alone = matches.every(({ recipientId }) => recipientId === first.recipientId);
  return { shipmentId: first.shipmentId, recipientId: alone ? first.recipientId : undefined };
}

/** The same for whoever does not say what it is: a shipment before a recipient, an address and a message. */
export async function findAny(ledger: Ledger, value: string): Promise<Question | Found> {
  if (await readCircumstances(ledger, value, [])) return { shipmentId: value };
  for (const by of ["recipient", "address", "message"] as const) {
    const found = await find(ledger, by, value);
    if (isQuestion(found) || found.matches.length > 0) return found;
  }
  return nobody;
}

/** What is asked of one shipment, or whom it may mean. */
export const isQuestion = <Other extends object>(found: Question | Other): found is Question =>
  "shipmentId" in found;

/** Nothing fits. An address is not repeated. */
export const nobodyFound = (by: By | "any", value: string): Failure =>
  new Failure("not_found", `the ledger has nothing for ${sought[by](value)}: look at how it is written`);

const sought: Record<By | "any", (value: string) => string> = {
  any: (value) => `${value}, as a shipment, a recipient, an address or a provider's message id`,
  shipment: (value) => `shipment ${value}`,
  recipient: (value) => `recipient ${value}`,
  address: () => "this address",
  message: (value) => `the provider's message ${value}`,
};
