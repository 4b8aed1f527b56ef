import { Command } from "commander";
import { wholeNumber } from "../../packages/bench/src/arguments.ts";
import { keepKillers, readKillers } from "./killers.ts";
import { judgeAll } from "./lanes.ts";
import { listMutants } from "./list.ts";
import type { Judged } from "./mutant.ts";
import { pick, staleIds } from "./pick.ts";
import { print, report } from "./report.ts";

type Options = {
  only: string[];
  details: boolean;
  sample?: number;
  seed: number;
  lanes: number;
  most: number;
  learn: boolean;
  list: boolean;
  json: boolean;
};

const command = new Command("mutants")
  .description(
    "Puts one fault at a time into the ledger's SQL, its schema and deliver, and looks whether a test fails. All of them take about ten minutes on two quiet cores.",
  )
  .option("--only <id...>", "those whose id begins so, details among them", [])
  .option("--details", "also those that change what is written, not who may write it", false)
  .option("--sample <n>", "so many of them, the same ones for the same seed", wholeNumber())
  .option("--seed <n>", "of the sample", wholeNumber(0), 1)
  .option("--lanes <n>", "so many at a time", wholeNumber(), 2)
  .option("--most <n>", "try so many test files at most, the nearest first", wholeNumber(), 1000)
  .option("--learn", "keep in killers.json which test catches which mutant", false)
  .option("--list", "only say which there are", false)
  .option("--json", "print one JSON object last", false)
  .addHelpText(
    "after",
    "\nExit code: 1 when one survives, or can't be read, that equivalent.ts does not name with a reason, else 0.",
  )
  .parse();
const values = command.opts<Options>();

const start = performance.now();
const mutants = listMutants();
const { picked, equivalent } = pick(mutants, {
  only: values.only,
  details: values.details,
  sample: values.sample ?? null,
  seed: values.seed,
});

const unknown = values.only.filter((start) => !mutants.some(({ id }) => id.startsWith(start)));
if (unknown.length > 0)
  command.error(`there is no mutant whose id begins with ${unknown.join(" or ")}: --list names them`);
if (values.list) for (const { id } of picked) console.log(id);
else process.exitCode = (await run()) ? 0 : 1;

async function run(): Promise<boolean> {
  const killers = readKillers();
  const judged: Judged[] = [];
  const trials = picked.map((mutant) => ({
    mutant,
    known: killers.get(mutant.id) ?? null,
    most: values.most,
  }));
  await judgeAll(trials, values.lanes, (one) => {
    judged.push(one);
    console.error(`${judged.length}/${picked.length} ${one.verdict.result} ${one.ms} ms ${one.id}`);
  });
  if (values.learn) keepKillers(judged, new Set(mutants.map(({ id }) => id)));
  const seconds = Math.round((performance.now() - start) / 1000);
  const found = report(mutants, judged, { equivalent, stale: staleIds(mutants), seconds });
  console.log(values.json ? JSON.stringify(found) : print(found));
  return found.ok;
}
