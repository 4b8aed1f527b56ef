import { type Channel, defaultDurations, type Ledger, type Notification, readChannels } from "@owed/ledger";

export type Closed = ReadonlyMap<string, NonNullable<Channel["closed"]>>;

/** Why channels are closed, by name, if one of these rows waits in the ledger; otherwise it says nothing about them. */
export async function closedChannels(
  ledger: Ledger,
  rows: readonly Pick<Notification, "state">[],
): Promise<Closed> {
  if (!rows.some(({ state }) => state === "pending" || state === "leased")) return new Map();
  const channels = await readChannels(ledger, defaultDurations);
  return new Map(channels.flatMap(({ name, closed }) => (closed ? [[name, closed]] : [])));
}
