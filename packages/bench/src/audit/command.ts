import { Ledger } from "@owed/ledger";
import Table from "cli-table3";
import { Command } from "commander";
import { wholeNumber } from "../arguments.ts";
import { type LedgerDatabase, withLedgerDatabase } from "../database/ledger-database.ts";
import { type Figure, figureTable, showNumber } from "../figures.ts";
import { describeMachine, type Machine } from "../machine.ts";
import { withProgress } from "../progress.ts";
import { type Spread, spread } from "../statistics.ts";
import { makeHistory } from "./history.ts";
import { pickSubjects, questions } from "./questions.ts";

type Options = { rows: number; archived: number; questions: number; json: boolean };

export type Result = {
  benchmark: "audit";
  machine: Machine;
  options: Options;
  /** Notifications that are in the archive. */
  archived: number;
  /** Milliseconds until the ledger has answered, by what was asked for. */
  answers: Record<string, Spread>;
  figures: Figure[];
};

export const auditCommand = () =>
  new Command("audit")
    .description(
      "How long an answer takes to whether somebody was notified: random questions to a large ledger with an archive, as `owed audit` and `owed show` ask them.",
    )
    .option("--rows <n>", "notifications in the ledger", wholeNumber(100), 1_000_000)
    .option("--archived <n>", "of them, those that go to the archive", wholeNumber(0), 200_000)
    .option("--questions <n>", "questions of each kind", wholeNumber(10), 500)
    .option("--json", "print one JSON object last", false)
    .action(async (options: Options) => {
      const result = await withLedgerDatabase((database) => measure(database, options));
      print(result, options.json ? console.error : console.log);
      if (options.json) console.log(JSON.stringify(result));
    });

async function measure({ setUp, options: access }: LedgerDatabase, options: Options): Promise<Result> {
  const archived = await makeHistory(setUp, options);
  const subjects = await pickSubjects(setUp, options.questions);
  const ledger = new Ledger({ ...access, role: "owed_reader" });
  try {
    const times = await withProgress("questions", subjects.length, async (update) => {
      const times = new Map(Object.keys(questions).map((kind) => [kind, [] as number[]]));
      for (const [place, subject] of subjects.entries()) {
        for (const [kind, ask] of Object.entries(questions)) {
          const start = performance.now();
          await ask(ledger, subject);
          times.get(kind)?.push(performance.now() - start);
        }
        update(place + 1);
      }
      return times;
    });
    const answers = Object.fromEntries([...times].map(([kind, values]) => [kind, spread(values)]));
    return {
      ...{ benchmark: "audit", machine: await describeMachine(setUp), options, archived, answers },
      figures: Object.entries(answers).map(([kind, { p99 }]) => ({
        name: `audit: 99 of 100 answers about ${kind}, ${showNumber(options.rows)} notifications`,
        ...{ value: p99, unit: "ms", target: 200, sense: "at most" },
      })),
    };
  } finally {
    await ledger.close();
  }
}

function print({ machine, options, archived, answers, figures }: Result, log: (text: string) => void): void {
  log(`Node ${machine.node}, PostgreSQL ${machine.postgres}, ${machine.cores} × ${machine.cpu}`);
  log(
    `${options.questions} questions of each kind, in ms; ${showNumber(archived)} of ${showNumber(options.rows)} notifications are in the archive`,
  );
  const table = new Table({
    head: ["about", "median", "p99", "max"],
    colAligns: ["left", "right", "right", "right"],
    style: { head: [], border: [] },
  });
  for (const [kind, { p50, p99, max }] of Object.entries(answers)) table.push([kind, p50, p99, max]);
  log(table.toString());
  log(figureTable(figures));
}
