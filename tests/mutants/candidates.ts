import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { folderOf, root } from "./list.ts";
import type { Mutant } from "./mutant.ts";

/** What tests of a module or a database object are called, where its own name does not say it. */
const testsOf: Record<string, readonly string[]> = {
  lease: ["lease", "lease-group", "shares", "moot"],
  "lease-rows": ["lease-own", "lease-group", "lease", "moot"],
  "lease-own": ["lease-own"],
  "claim-ordinary": ["claim", "claim-batch", "claim-guards", "moot"],
  "judge-messages": [
    "claim",
    "claim-batch",
    "claim-guards",
    "defer",
    "redrive-batch",
    "mark-restored",
    "provider-tells",
    "moot",
  ],
  "record-accepted": ["record", "record-guards"],
  "record-others": ["record", "record-guards", "provider-tells"],
  "look-again": ["look-again", "provider-tells"],
  "begin-sweep": ["heartbeat", "settled", "load", "limits"],
  "finish-sweep": ["heartbeat", "load"],
  "record-evidence": ["record-evidence", "evidence-detail", "suppression", "evidence-race"],
  "record-limits": ["limits"],
  "record-trouble": ["trouble", "breaker"],
  "record-recovery": ["trouble"],
  "close-channel": ["operate", "trouble"],
  "open-channel": ["operate", "trouble", "limits"],
  "lift-suppression": ["operate", "suppression"],
  "look-at-queued": ["operate", "look-again"],
  "note-redrive": ["operate"],
  refusal: ["operate"],
  deliver: ["message-table", "turns", "recording", "waiting"],
  trouble: ["trouble", "breaker"],
  "owed.telling": ["moot", "claim", "cancel-older", "suppression", "hear-recipient", "fan-out"],
  "owed.record_and_fan_out": ["cancel-older", "record-event", "fan-out", "record-events", "suppression"],
  "owed.fan_out": [
    "fan-out",
    "moot",
    "record-event",
    "due-at",
    "cancel-older",
    "suppression",
    "hear-recipient",
  ],
  "owed.due_at": ["due-at"],
  "owed.is_time_zone": ["due-at", "watch"],
  "owed.find_notified": ["find-notified", "find-notified-plans"],
  "owed.keep_former_address": ["find-notified"],
  "owed.had_address": ["erase"],
  "owed.set_rule": ["set-rule"],
  "owed.hear_recipient": ["hear-recipient"],
  "owed.describe_merchant": ["watch"],
  "owed.try_record_event": ["record-event", "record-events"],
  "owed.record_event": ["record-event"],
  "owed.notification_id": ["fan-out"],
  "owed.new_event_key": ["fan-out"],
  "owed.load": ["load", "heartbeat", "shares", "lease-group"],
  "owed.time_to_drain": ["load", "heartbeat"],
  "owed.address_key": ["hear-recipient", "suppression", "record-evidence"],
  "owed.evidence_until": ["provider-tells"],
  "owed.rank": ["record-evidence", "evidence-detail"],
  "owed.register_shipment": ["watch", "mode"],
  "owed.subscribe": ["watch", "erase-named"],
  "owed.subscribe_by_id": ["watch", "due-at"],
  "owed.refuse": ["watch"],
  "owed.opt_out": ["opt-out", "watch", "erase-named"],
  "owed.refuse_crowd": ["crowd", "watch"],
  the_end_is_final: ["constraints"],
  "notification_archive.the_end_is_final": ["constraints"],
  a_version_is_final: ["set-rule"],
};

/** Tests of whole histories: they come last among those of their package. */
const long = /\/protocol\.pg\.test\.ts$/;
/** They compare the schema with its dump, and so would catch every change of it whatever it does. */
const never = /\/(?:schema|migrate|migrate-live)\.pg\.test\.ts$/;

let files: string[] | undefined;
const allTests = (): string[] =>
  (files ??= [
    "packages/ledger/src/**/*.pg.test.ts",
    "packages/functions/src/**/*.test.ts",
    "packages/cli/src/**/*.pg.test.ts",
  ]
    .flatMap((pattern) => globSync(pattern, { cwd: root }))
    .filter((file) => !never.test(file))
    .toSorted());

/** Whether a test file asks for the module by itself. */
const imports = (file: string, of: string): boolean =>
  of.endsWith(".ts") && readFileSync(`${root}/${file}`, "utf8").includes(`/${basename(of)}"`);

/** The test files that may catch a mutant, those first that are most likely to. */
export function candidatesFor({ of }: Pick<Mutant, "of">): string[] {
  const stem = basename(of, ".ts");
  const own = testsOf[of] ?? testsOf[stem] ?? [stem];
  const ofFunctions = of.startsWith("packages/functions/");
  const distance = (file: string): number => {
    const name = basename(file).replace(/(?:\.pg)?\.test\.ts$/, "");
    const isLedgers = file.startsWith("packages/ledger/");
    // Another package's tests of the same name are of something else.
    if (ofFunctions === isLedgers || file.startsWith("packages/cli/")) return long.test(file) ? 9 : 8;
    const named = own.findIndex((one) => name === one || name === `${one}-guards`);
    const isSame = of.includes("/") && folderOf(file) === folderOf(of);
    // A module of the same name in another folder has tests of the same name.
    if (named !== -1) return named / own.length + (isSame || own[named] !== stem ? 0 : 1.5);
    if (own.some((one) => name.startsWith(one)) || imports(file, of)) return 1;
    if (isSame) return 2;
    return long.test(file) ? 4 : 3;
  };
  // Without a database nobody sees what the ledger does.
  const able = allTests().filter((file) => ofFunctions || file.endsWith(".pg.test.ts"));
  const distances = new Map(able.map((file) => [file, distance(file)]));
  const far = (file: string) => distances.get(file) ?? 0;
  return able.toSorted((a, b) => far(a) - far(b) || (a < b ? -1 : 1));
}
