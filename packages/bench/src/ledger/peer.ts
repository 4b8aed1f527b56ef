import { setTimeout as sleep } from "node:timers/promises";
import type { Ledger } from "@owed/ledger";
import type { LocalPostgres } from "@owed/local";

/** Where a peer finds the server. */
export type Server = Pick<LocalPostgres, "host" | "port" | "user" | "password" | "database">;

export const connectionString = ({ user, password, host, port, database }: Server): string =>
  `postgres://${user}:${encodeURIComponent(password)}@${host}:${port}/${database}`;

/** What a worker needs to send one notification: our ledger has it in its tables, a queue of jobs in each job. */
export const payloadOf = (job: number) => ({
  template: "delivery_exception",
  role: "buyer",
  address: `buyer${job}@example.com`,
  name: "Ann Example",
  locale: "en",
  timeZone: "Europe/Lisbon",
  shipment: { id: `S-5f0c7e1a-${job}`, trackingNumber: `OW-5f0c7e1a-${job}`, status: "delivery_exception" },
  merchant: { id: "M-bench", name: "Bench & Daughters" },
});

/** Asks until the server says that it is done. */
export async function until(ledger: Ledger, statement: string): Promise<void> {
  for (;;) {
    const [answer] = await ledger.run((sql) => sql.unsafe<{ done: boolean }[]>(statement), {
      repeatable: true,
    });
    if (answer?.done) return;
    await sleep(5);
  }
}
