import { cpus } from "node:os";
import type { Ledger } from "@owed/ledger";

/** What the figures were measured on. */
export type Machine = { node: string; postgres: string; cpu: string; cores: number };

export async function describeMachine(ledger: Ledger): Promise<Machine> {
  const [server] = await ledger.run((sql) => sql<{ server_version: string }[]>`SHOW server_version`, {
    repeatable: true,
  });
  const processors = cpus();
  return {
    node: process.versions.node,
    postgres: server?.server_version ?? "unknown",
    cpu: processors[0]?.model.trim() ?? "unknown",
    cores: processors.length,
  };
}
