import type { Command } from "commander";
import type { Result } from "./output.ts";
import type { Kind, Services } from "./services.ts";

/** What a command's work gets. */
export type Context = Services & {
  /** Says how it goes, to people alone. */
  progress: (line: string) => void;
};

/** Runs a command's work, and keeps the result for printing. */
export type Run = {
  /** With its services. */
  (kind: Kind, work: (context: Context) => Promise<Result>): Promise<void>;
  /** Without any: nothing is connected, and no configuration is looked for. */
  (work: () => Promise<Result>): Promise<void>;
};

export type Lesson = {
  summary: string;
  description: string;
  /** What it changes, in a sentence. */
  changes: string;
  /** Command lines without the leading `owed`. */
  examples: readonly string[];
};

/** Adds a command whose help says what it changes and shows how it is used. */
export function teach(program: Command, usage: string, lesson: Lesson): Command {
  const examples = lesson.examples.map((example) => `  $ npm run owed -- ${example}`);
  return program
    .command(usage)
    .summary(lesson.summary)
    .description(lesson.description)
    .addHelpText("after", `\nChanges: ${lesson.changes}\n\nExamples:\n${examples.join("\n")}`);
}
