import { globSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { apply, type Change } from "./change.ts";
import type { Mutant } from "./mutant.ts";
import { type DatabaseObject, objectsOf } from "./objects.ts";
import { changesOfSql } from "./sql/changes.ts";
import { templatesOf } from "./templates.ts";
import { changesOfTypeScript } from "./typescript/changes.ts";

export const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

/** Where the ledger writes, and what it asks before somebody writes: lists for people's eyes guard nothing. */
const sqlFiles = [
  "packages/ledger/src/{sweep,deliver,event,channel,operate}/*.ts",
  "packages/ledger/src/ask/{moot,dead-lettered}.ts",
];

/** What deliver does with a message, and what an outcome becomes. */
const deliverFiles = ["deliver", "outcome", "trouble"].map(
  (name) => `packages/functions/src/deliver/${name}.ts`,
);

/** By whom the table in docs/states.md is kept: what becomes of a message, and of a row by its outcome. */
const tableOf = /^(?:outcome\/decide|deliver\/(?:disposalOf|finish|sendGroup)):/;

/** Every mutant of the product as it stands on disk, in the order of the files. */
export function listMutants(): Mutant[] {
  const sql = sqlFiles
    .flatMap((pattern) => globSync(pattern, { cwd: root }).toSorted())
    .filter((file) => !file.endsWith(".test.ts"));
  return [
    ...sql.flatMap((file) => inModule(file, changesInTemplates)),
    ...objectsOf(read("migrations/schema.sql")).flatMap(inDatabase),
    ...deliverFiles.flatMap((file) => inModule(file, changesOfTypeScript)),
  ];
}

const read = (file: string): string => readFileSync(`${root}/${file}`, "utf8");

function inModule(file: string, changesOf: (source: string) => Change[]): Mutant[] {
  const source = read(file);
  return named(basename(file, ".ts"), changesOf(source)).map(({ id, change }) => ({
    id,
    // Of deliver, its table is what guards; the rest serves it.
    kind: deliverFiles.includes(file) && !tableOf.test(id) ? "detail" : change.kind,
    of: file,
    change: { file, source: apply(source, change) },
  }));
}

const changesInTemplates = (source: string): Change[] =>
  templatesOf(source).flatMap(({ text, start }) =>
    changesOfSql(text).map((change) => ({ ...change, start: start + change.start, end: start + change.end })),
  );

/**
 * What moves a merchant over, what goes to the archive, and what is erased: its tests are of whole runs, and of its
 * mutants nobody has judged yet which are no faults.
 */
const unjudged = new Set(
  [
    ...[
      "erase",
      "without",
      "retain",
      "weigh_archived",
      "keep_pause",
      "suppression_key",
      "addresses_of",
      "is_specific",
    ],
    ...[
      "needles",
      "people",
      "recipient_digest",
      "rename_old_sends",
      "rows_of",
      "same_address",
      "subscriber_named",
    ],
    ...["keep_mode", "mode_key", "take_mode", "unheard"],
    ...[
      "judge_timers",
      "backfill_timers",
      "timer_event_id",
      "move_held",
      "hold_rows",
      "compared",
      "set_mode",
    ],
    ...[
      "set_new_merchants",
      "find_notification",
      "old_claim",
      "old_claim_ends",
      "old_sent",
      "old_gave_up",
      "old_due",
    ],
    ...["settle_old_send", "settle_early_sends", "lock_tables"],
  ].map((name) => `owed.${name}`),
);

function inDatabase({ name, body, write }: DatabaseObject): Mutant[] {
  return named(name, changesOfSql(body)).map(({ id, change }) => ({
    id,
    kind: unjudged.has(name) ? "detail" : change.kind,
    of: name,
    change: { sql: write(apply(body, change)) },
  }));
}

/** Two changes that read the same are told apart by their order. */
function named(stage: string, changes: readonly Change[]): { id: string; change: Change }[] {
  const seen = new Map<string, number>();
  return changes.map((change) => {
    const name = `${[stage, change.place].filter(Boolean).join("/")}: ${change.what}`;
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    return { id: times === 1 ? name : `${name} #${times}`, change };
  });
}

/** The name of the folder that a file stands in. */
export const folderOf = (file: string): string => basename(dirname(file));
