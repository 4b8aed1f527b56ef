import type { Command } from "commander";
import type { Run } from "../command.ts";
import { check } from "./rules/check.ts";
import { list } from "./rules/list.ts";
import { retire } from "./rules/retire.ts";
import { set } from "./rules/set.ts";
import { tryOut } from "./rules/try.ts";

/** Who is told what, by which channel and when: for those who know the customers. */
export function rules(program: Command, run: Run): void {
  const group = program
    .command("rules")
    .summary("who is told what, when and by which channel; and what an event would tell")
    .description(
      "The rules: for each status and role the channels, at once or later, until when, and what a newer status does to what was not sent yet. A change is a new version; what is owed already keeps the version it came from.",
    );
  for (const add of [list, check, tryOut, set, retire]) add(group, run);
}
