import { Ledger } from "@owed/ledger";
import { type Stack, type StackOptions, startStack } from "@owed/local/stack";
import { withTemporaryFolder } from "./temporary-folder.ts";

/** The local stack, and the ledger as the benchmark looks into it. */
export type Cloud = { stack: Stack; ledger: Ledger };

/** Starts a stack in a folder of its own, its schedule paused; everything is gone when the work is done. */
export async function withCloud<T>(
  options: Omit<StackOptions, "folder">,
  work: (cloud: Cloud, folder: string) => Promise<T>,
): Promise<T> {
  return await withTemporaryFolder(async (folder) => {
    const stack = await startStack({
      folder,
      functionLogs: "ERROR",
      log: (line) => console.error(line),
      ...options,
    });
    stack.schedule.pause();
    const ledger = new Ledger({ ...stack.ledgerOptions, applicationName: "owed-bench" });
    try {
      return await work({ stack, ledger }, folder);
    } finally {
      await ledger.close();
      await stack.stop();
    }
  });
}
