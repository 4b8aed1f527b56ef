import { type Ledger, listStatuses } from "@owed/ledger";
import { Failure } from "../errors.ts";

/** Refuses a status that no shipment can be in, and says which there are. */
export async function knownStatus(ledger: Ledger, status: string): Promise<void> {
  const statuses = await listStatuses(ledger);
  if (!statuses.includes(status))
    throw new Failure("usage", `there is no status ${status}; there are ${statuses.join(", ")}`);
}
