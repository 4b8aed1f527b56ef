import { userInfo } from "node:os";
import { type Console, type Sandbox, startConsole } from "@owed/console";
import { Ledger } from "@owed/ledger";
import type { Stack } from "./stack.ts";

/**
 * The operator's page on this stack. It reads and writes with the roles that it has on a deployed stage.
 *
 * @param port 0 for any free port
 */
export async function startPage(
  stack: Pick<Stack, "ledgerOptions" | "client" | "queues">,
  sandbox: Sandbox,
  port: number,
): Promise<Console> {
  // SST reads the environment at the first use: the stack has set it.
  const { readSettings } = await import("@owed/functions/settings");
  const { linked } = await import("@owed/functions/resources");
  const connect = (role: string) =>
    new Ledger({ ...stack.ledgerOptions, applicationName: "owed-console", role });
  const ledger = connect("owed_reader");
  const writer = connect("owed_operator");
  const page = await startConsole({
    ...{ port, ledger, writer, sandbox, stage: "local", actor: whoIsThere() },
    services: {
      sqs: async () => stack.client,
      queue: (name) => stack.queues[name],
      settings: async () => readSettings(),
      webhookKey: async () => linked("WebhookKey")?.value ?? null,
    },
  });
  return {
    url: page.url,
    async stop() {
      await page.stop();
      await Promise.all([ledger.close(), writer.close()]);
    },
  };
}

/** Who acts here: OWED_ACTOR, else the user of this machine; in a container the user's number may have no name. */
function whoIsThere(): string {
  const named = process.env.OWED_ACTOR?.trim();
  if (named) return named;
  try {
    return userInfo().username;
  } catch {
    return "somebody";
  }
}
