import { createRequire } from "node:module";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import type { Ledger } from "@owed/ledger";

/** What the figures were measured on, and with. */
export type Machine = {
  node: string;
  postgres: string;
  cpu: string;
  cores: number;
  /** Versions of what takes part, and of what it is compared with. */
  packages: Record<string, string>;
};

const packages = ["postgres", "@aws-sdk/client-sqs", "pg-boss", "graphile-worker"];

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
    packages: Object.fromEntries(packages.map((name) => [name, versionOf(name)])),
  };
}

const root = new URL("../../../", import.meta.url);
const readJson = createRequire(import.meta.url);

/** The installed one. By its path, since not every package lets its package.json be imported. */
function versionOf(name: string): string {
  const { version }: { version: string } = readJson(
    fileURLToPath(new URL(`node_modules/${name}/package.json`, root)),
  );
  return version;
}

/** One line for people. */
export const showMachine = ({ node, postgres, cpu, cores, packages: others }: Machine): string =>
  [
    `Node ${node}, PostgreSQL ${postgres}, ${cores} × ${cpu}`,
    ...Object.entries(others).map(([name, version]) => `${name} ${version}`),
  ].join(", ");
