import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { render } from "@owed/plot";
import { Command } from "commander";
import { markdown } from "./markdown.ts";
import { plotsOf } from "./plots.ts";
import { readRuns, textOf } from "./runs.ts";

type Options = { out?: string; markdown: boolean };

export const plotCommand = () =>
  new Command("plot")
    .description(
      "Plots of runs of all benchmarks as SVG files, and a table of their figures as Markdown: medians over the runs, with the least and the greatest.",
    )
    .argument("<file...>", "what `bench all --out <file>` wrote, a file for each run")
    .option("--out <folder>", "write the plots there, such as docs/performance")
    .option("--markdown", "print the table", false)
    .action(async (files: string[], { out, markdown: table }: Options, command: Command) => {
      if (out === undefined && !table)
        command.error("error: nothing is asked for: give --out, --markdown, or both");
      const runs = await readRuns(files).catch((error: unknown) => command.error(`error: ${textOf(error)}`));
      if (table) console.log(markdown(runs));
      if (out === undefined) return;
      await mkdir(out, { recursive: true });
      for (const [name, plot] of plotsOf(runs)) {
        const file = join(out, `${name}.svg`);
        await writeFile(file, await render(plot));
        console.error(file);
      }
    });
