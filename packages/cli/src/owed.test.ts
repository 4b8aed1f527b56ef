import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const owed = (...argv: string[]) =>
  spawnSync(process.execPath, [fileURLToPath(new URL("owed.ts", import.meta.url)), ...argv], {
    encoding: "utf8",
    timeout: 15_000,
  });

test("the program as it is run: one JSON object on standard output, and the exit code", () => {
  const { status, stdout, stderr } = owed("show", "1", "--json");
  expect([status, stderr]).toEqual([2, ""]);
  expect(JSON.parse(stdout).error.kind).toBe("usage");
  expect(stdout.trimEnd()).not.toContain("\n");
});

test("help goes to standard output", () => {
  const { status, stdout, stderr } = owed("help", "redrive");
  expect([status, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^Usage: owed redrive /);
});
