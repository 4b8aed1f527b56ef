import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const program = fileURLToPath(new URL("chaos.ts", import.meta.url));

test("one history of the chaos run, by its seed: everything recovers, and the figures are one JSON object", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    program,
    "--seed",
    "112",
    "--only",
    "--json",
  ]);
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ ok: true, seed: 112, histories: 1, lost: 0, uncounted: 0, failures: [] },
    ...{
      notifications: 12,
      delivered: 12,
      duplicates: expect.any(Number),
      counted_unknown: expect.any(Number),
    },
  });
});
