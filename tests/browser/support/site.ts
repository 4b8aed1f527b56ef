import { rm } from "node:fs/promises";
import { Ledger } from "@owed/ledger";
import postgres from "postgres";
import { startDemo } from "../../../packages/local/src/demo.ts";
import { startPage } from "../../../packages/local/src/page.ts";
import { createSandbox } from "../../../packages/local/src/sandbox.ts";
import { type Stack, startStack } from "../../../packages/local/src/stack.ts";
import { makeFolder } from "../../support/folder.ts";

/** Who acts in these tests. */
export const actor = "ada";

/** A minute takes a second, and what bounds real calls is scaled less: a busy machine keeps within them. */
const settings = {
  sweep: { budget: 8, every: 5 },
  deliver: { call: 12, callBefore: 4, reserve: 1.5 },
  durations: { lease: 12, sendLease: 16, lostAfter: 120, grace: 60, heartbeat: 10, queueEmpty: 2 },
};

/** Longer than any test takes. */
const still = { every: 3600, followUp: 3600 };

export type Site = {
  /** Of the console, without a slash at its end. */
  url: string;
  stack: Stack;
  ledger: Ledger;
  /** For what a test arranges and asserts. */
  sql: postgres.Sql;
  /** Lets so many events happen to the demonstration's shipments. */
  happen(events: number): Promise<void>;
  stop(): Promise<void>;
};

export type SiteOptions = {
  /** Seconds between two beats of the schedule. */
  everySeconds?: number;
  /** Overrides of the functions' settings. */
  settings?: Record<string, unknown>;
};

/** The whole local stack on scaled time, with its demonstration and its console, as `npm start` runs it. One a process. */
export async function startSite({ everySeconds = 1, settings: own = {} }: SiteOptions = {}): Promise<Site> {
  process.env.OWED_ACTOR = actor;
  const folder = await makeFolder("browser");
  const stack = await startStack({
    ...{ folder, durable: false, everySeconds, visibility: 5 },
    settings: { ...settings, ...own },
  });
  const ledger = new Ledger({ ...stack.ledgerOptions, connections: 4 });
  const { host, port, user, password, database } = stack.postgres;
  const sql = postgres({ host, port, user, password, database, max: 2, onnotice: () => {} });
  // Its events come when a test lets them happen.
  const demo = await startDemo({ ledger, bus: stack.bus, inboxOf: stack.webhooks.addressOf, ...still });
  const page = await startPage(stack, createSandbox(stack, demo), 0);
  return {
    url: page.url,
    ...{ stack, ledger, sql, happen: demo.happen },
    async stop() {
      await page.stop();
      await demo.stop();
      await ledger.close();
      await sql.end({ timeout: 1 });
      await stack.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
