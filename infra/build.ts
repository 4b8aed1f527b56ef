import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import Table from "cli-table3";
import { Command } from "commander";
import { type Bundle, makeBundles } from "./bundles/make.ts";

type Options = { out: string; contents: boolean; json: boolean };

const command = new Command("build")
  .description(
    "Makes the artefacts that a deployment uploads, one folder a function, and holds them to their budget.",
  )
  .option("--out <folder>", "where to", fileURLToPath(new URL("../build", import.meta.url)))
  .option("--contents", "name the packages in each bundle, with their bytes", false)
  .option("--json", "print one JSON object last", false)
  .addHelpText("after", "\nExit code: 0 when every function keeps to its budget, else 1.");

function print(bundles: readonly Bundle[]): void {
  const table = new Table({
    head: ["function", "bytes", "AWS clients", "ms"],
    colAligns: ["left", "right", "left", "right"],
    style: { head: [], border: [] },
  });
  for (const { stage, bytes, clients, milliseconds } of bundles)
    table.push([stage, bytes, clients.join(", ") || "none", milliseconds]);
  console.log(table.toString());
}

function printContents(bundles: readonly Bundle[]): void {
  for (const { stage, packages } of bundles) {
    console.log(`\n${stage}`);
    for (const { name, bytes } of packages) console.log(`${String(bytes).padStart(9)}  ${name}`);
  }
}

command.parse();
const options = command.opts<Options>();
const bundles = await makeBundles(resolve(options.out));
const faults = bundles.flatMap((bundle) => bundle.faults);
if (options.json) console.log(JSON.stringify({ ok: faults.length === 0, bundles }));
else {
  print(bundles);
  if (options.contents) printContents(bundles);
}
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
