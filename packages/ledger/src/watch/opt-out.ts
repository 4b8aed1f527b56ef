import type { Ledger } from "../connect/ledger.ts";

/** Ends a recipient's subscription to a shipment on a channel. Returns false when it had ended before, or never was. */
export async function optOut(
  ledger: Ledger,
  { shipmentId, recipientId, channel }: { shipmentId: string; recipientId: string; channel: string },
): Promise<boolean> {
  const [row] = await ledger.run(
    (sql) =>
      sql<
        { opted_out: boolean }[]
      >`SELECT owed.opt_out(${shipmentId}, ${recipientId}, ${channel}) AS opted_out`,
    { repeatable: true },
  );
  return row?.opted_out === true;
}
