import { setTimeout as sleep } from "node:timers/promises";
import type { Ledger } from "@owed/ledger";
import type { Stack } from "@owed/local/stack";
import type { Usage } from "./bill.ts";

/** What a meter counts; the rest of a usage is known to whoever made the work. */
export type Counted = Pick<Usage, "emails" | "sqs" | "functions" | "statements">;

/** Seconds after which an idle session has told PostgreSQL's statistics everything. */
const settled = 11;

/** Milliseconds between two looks at who is running. */
const look = 5;

/** Counts what a stack does from now on. `read` waits until PostgreSQL's statistics are complete. */
export async function startMeter({ sqs, ses, sources }: Stack, ledger: Ledger) {
  await sleep(settled * 1000);
  const before = { statements: await statements(ledger), emails: ses.sent.length, sources: counts(sources) };
  const requests = { standard: 0, fifo: 0 };
  const stop = sqs.faults.observe(({ action, queueName, response }) => {
    // Empty receives are the pollers', and theirs on Lambda are known without measuring.
    if (action === "ReceiveMessage" && !Array.isArray(Object(response).Messages)) return;
    requests[queueName.endsWith(".fifo") ? "fifo" : "standard"] += 1;
  });
  const busy = { ingest: 0, deliver: 0, feedback: 0 };
  const names = Object.keys(busy) as (keyof typeof busy)[];
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    for (const name of names) busy[name] += ((now - last) / 1000) * sources[name].stats.running;
    last = now;
  }, look);

  return {
    async read(): Promise<Counted> {
      clearInterval(timer);
      stop();
      await sleep(settled * 1000);
      const after = counts(sources);
      const invocations = (name: keyof typeof busy) =>
        after[name].invocations - before.sources[name].invocations;
      const functions = Object.fromEntries(
        names.map((name) => [name, { invocations: invocations(name), seconds: busy[name] }]),
      );
      return {
        emails: ses.sent.length - before.emails,
        sqs: requests,
        functions,
        // The two looks themselves are not the functions'.
        statements: (await statements(ledger)) - before.statements - 1,
      };
    },
  };
}

const counts = (sources: Stack["sources"]) => ({
  ingest: { ...sources.ingest.stats },
  deliver: { ...sources.deliver.stats },
  feedback: { ...sources.feedback.stats },
});

/** Each statement of the product is a transaction of its own. */
async function statements(ledger: Ledger): Promise<number> {
  const [row] = await ledger.run(
    (sql) => sql<{ count: number }[]>`
      SELECT (xact_commit + xact_rollback)::int AS count FROM pg_stat_database WHERE datname = current_database()`,
    { repeatable: true },
  );
  return row?.count ?? 0;
}
