import { Command } from "commander";
import { coldCommand } from "./cold/command.ts";
import { costCommand } from "./cost/command.ts";
import { unknownCommand } from "./unknown/command.ts";

// An early end still stops PostgreSQL, which ends with this process.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

await new Command("bench")
  .description("Measures Owed on this machine, each benchmark on a ledger of its own.")
  .addCommand(unknownCommand())
  .addCommand(coldCommand())
  .addCommand(costCommand())
  .parseAsync();
// The functions keep their connections for the next invocation, as on Lambda; here nothing comes any more.
process.exit();
