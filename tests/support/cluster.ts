import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { migrate } from "@owed/ledger";
import { startPostgres } from "@owed/local";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    cluster: { host: string; port: number; user: string; password: string };
  }
}

/** One PostgreSQL for a test run, with a migrated database that each test file's own is copied from. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "owed-test-"));
  const server = await startPostgres({ folder, port: 0, database: "template_owed", durable: false });
  const { host, port, user, password } = server;
  await migrate(
    {
      host,
      port,
      user,
      password,
      database: "template_owed",
      tls: "off",
      applicationName: "test",
      connections: 1,
      deadline: 30,
    },
    fileURLToPath(new URL("../../migrations", import.meta.url)),
  );
  project.provide("cluster", { host, port, user, password });
  return async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
}
