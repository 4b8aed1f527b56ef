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

// Wrong usage ends with 2, as the command line's does; a benchmark that failed with 1.
const bench = new Command("bench")
  .description("Measures Owed on this machine, each benchmark on a ledger of its own.")
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
for (const command of [
  sweepCommand(),
  deliverCommand(),
  ledgerCommand(),
  flowCommand(),
  flatCommand(),
  pressureCommand(),
  latencyCommand(),
  idleCommand(),
  coldCommand(),
  auditCommand(),
  allCommand(),
  unknownCommand(),
  costCommand(),
  plotCommand(),
  scaleCommand(),
]) {
  command.copyInheritedSettings(bench);
  bench.addCommand(command);
}
await bench.parseAsync();
// The functions keep their connections for the next invocation, as on Lambda; here nothing comes any more.
process.exit();
