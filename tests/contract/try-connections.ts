import { Ledger, type LedgerOptions } from "@owed/ledger";

// Tries each of the connections given as JSON, in this process's own trust, and prints what came of each.

async function tryOne(options: LedgerOptions): Promise<string> {
  const ledger = new Ledger(options);
  const asked = ledger.run((sql) => sql<{ who: string }[]>`SELECT current_user AS who`, { repeatable: true });
  return asked
    .then(([row]) => `connected as ${row?.who}`)
    .catch((error: Error) => error.message)
    .finally(() => ledger.close());
}

const given = JSON.parse(process.argv[2] ?? "[]") as LedgerOptions[];
process.stdout.write(JSON.stringify(await Promise.all(given.map(tryOne))));
