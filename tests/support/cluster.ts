import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { migrate } from "@owed/ledger";
import { startPostgres } from "@owed/local";
import type { TestProject } from "vitest/node";
import { makeFolder } from "./folder.ts";

declare module "vitest" {
  interface ProvidedContext {
    cluster: { host: string; port: number; user: string; password: string };
  }
}

/** One PostgreSQL for a test run, with a migrated database that each test file's own is copied from. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // The first project that needs it starts it for all.
  const run = project.vitest.getRootProject();
  if ("cluster" in run.getProvidedContext()) return async () => {};
  const folder = await makeFolder("test");
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
  run.provide("cluster", { host, port, user, password });
  return async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
}
