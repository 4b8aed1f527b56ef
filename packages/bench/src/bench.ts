import { Command } from "commander";
import { allCommand } from "./all/command.ts";
import { auditCommand } from "./audit/command.ts";
import { coldCommand } from "./cold/command.ts";
import { costCommand } from "./cost/command.ts";
import { deliverCommand } from "./deliver/command.ts";
import { flatCommand } from "./flat/command.ts";
import { flowCommand } from "./flow/command.ts";
import { idleCommand } from "./idle/command.ts";
import { latencyCommand } from "./latency/command.ts";
import { ledgerCommand } from "./ledger/command.ts";
import { plotCommand } from "./plot/command.ts";
import { pressureCommand } from "./pressure/command.ts";
import { scaleCommand } from "./scale/command.ts";
import { sweepCommand } from "./sweep/command.ts";
import { unknownCommand } from "./unknown/command.ts";

// An early end still stops PostgreSQL, which ends with this process.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

await new Command("bench")
  .description("Measures Owed on this machine, each benchmark on a ledger of its own.")
  .addCommand(sweepCommand())
  .addCommand(deliverCommand())
  .addCommand(ledgerCommand())
  .addCommand(flowCommand())
  .addCommand(flatCommand())
  .addCommand(pressureCommand())
  .addCommand(latencyCommand())
  .addCommand(idleCommand())
  .addCommand(coldCommand())
  .addCommand(auditCommand())
  .addCommand(allCommand())
  .addCommand(unknownCommand())
  .addCommand(costCommand())
  .addCommand(plotCommand())
  .addCommand(scaleCommand())
  .parseAsync();
// The functions keep their connections for the next invocation, as on Lambda; here nothing comes any more.
process.exit();
