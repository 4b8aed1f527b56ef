import type { Ledger } from "../connect/ledger.ts";

/** What a recipient said of being written to, in a message of their own. */
export type Word = {
  channel: string;
  address: string;
  word: "stop" | "start";
  /** When it was said, in milliseconds since the epoch. */
  at: number;
};

/**
 * Takes addresses out of use, or puts them back, on their owners' word, which counts for every shipment: what is not
 * sent yet is cancelled as opted out when it is leased or claimed. What was said first never undoes what was said
 * later, whatever order the words come in. Returns how many changed something.
 */
export async function hearRecipients(ledger: Ledger, words: readonly Word[]): Promise<number> {
  if (words.length === 0) return 0;
  // As text: the driver takes an array of booleans for a boolean.
  const stops = words.map(({ word }) => String(word === "stop"));
  const rows = await ledger.run(
    (sql) => sql<{ changed: boolean }[]>`
      SELECT owed.hear_recipient(given.channel, given.address, given.stop, given.at) AS changed
      FROM (
        SELECT * FROM unnest(
          ${words.map(({ channel }) => channel)}::text[],
          ${words.map(({ address }) => address)}::text[],
          ${stops}::bool[],
          ${words.map(({ at }) => new Date(at).toISOString())}::timestamptz[]
        ) AS word (channel, address, stop, at)
        -- In the addresses' order, so that two statements never wait for each other; of two words of one moment STOP counts.
        ORDER BY channel, address, at, stop
      ) AS given`,
    { repeatable: true },
  );
  return rows.filter(({ changed }) => changed).length;
}
