import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { listMutants } from "./list.ts";
import { staleIds } from "./pick.ts";
import type { Report } from "./report.ts";

const program = fileURLToPath(new URL("./mutants.ts", import.meta.url));

/** Each takes away one thing that a guarantee stands on. */
const telling = [
  `judge-messages/judged: drop "WHEN row.generation <> message.generation THEN 'stale'"`,
  'record-others/recorded.where: drop "n.lease_token = o.token"',
  `lease/due: without 'leased' in "n.state IN"`,
  'mark-queued/where: drop "n.lease_token = sent.token"',
  'look-again/judged.when: drop "resends = 3"',
];

test("five faults in the ledger's SQL are each caught by a test of its own name", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    program,
    "--json",
    ...telling.flatMap((id) => ["--only", id]),
  ]);
  const { table, ok }: Report = JSON.parse(stdout);
  const caught = Object.fromEntries(table.map(({ id, result, test }) => [id, `${result}: ${test}`]));
  expect(caught).toEqual(Object.fromEntries(telling.map((id) => [id, expect.stringMatching(/^caught: ./)])));
  expect(ok).toBe(true);
});

test("there are mutants enough, each of its own name, and every reason has its mutant", () => {
  const mutants = listMutants();
  expect(mutants.length).toBeGreaterThan(1000);
  expect(new Set(mutants.map(({ id }) => id)).size).toBe(mutants.length);
  expect(staleIds(mutants)).toEqual([]);
});
