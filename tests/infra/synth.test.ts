import { execFile } from "node:child_process";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { Stack } from "./stack/stack.ts";
import { print } from "./synth/print.ts";
import type { Synthesis } from "./synth/synthesis.ts";
import { synthesise } from "./synthesise.ts";

let staging: Stack;
beforeAll(async () => {
  staging = await synthesise({ stage: "staging" });
});

type Ended = { code: number | string; stdout: string; stderr: string };

/** `npm run synth -- …` as people run it. */
const synth = (...args: string[]): Promise<Ended> =>
  new Promise((resolve) => {
    const program = join(import.meta.dirname, "synth.ts");
    execFile(process.execPath, [program, ...args], { maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });

test("the list has every resource with its inputs, in the order of the data", () => {
  const lines = print(staging.synthesis).split("\n");
  expect(lines.filter((line) => line.startsWith("== "))).toEqual(
    [
      ...[
        "event",
        "ingest",
        "sweep",
        "queue",
        "deliver",
        "email",
        "feedback",
        "migrate",
        "network",
        "database",
      ],
      ...["operator", "alarm", "dashboard", "other", "functions", "outputs"],
    ].map((stage) => `== ${stage}`),
  );
  for (const { type, name, custom } of staging.resources) {
    if (custom) expect(lines.some((line) => line.startsWith(`${name} (${type}`))).toBe(true);
  }
  expect(lines).toContain("  scheduleExpression: rate(1 minute)");
});

test("a stage as JSON, on standard output alone, with settings of its own", async () => {
  const { code, stdout } = await synth("--stage", "ana", "--json", "--settings", '{"shadowQueue":true}');
  const { app, resources }: Synthesis = JSON.parse(stdout);
  expect({ code, app }).toMatchObject({ code: 0, app: { name: "owed", stage: "ana" } });
  expect(resources.filter(({ name }) => name === "ShadowQueue")).toHaveLength(1);
});

test("a stage that can't be synthesised says why, and what to do", async () => {
  const settings = '{"webhooks":true,"network":{"nat":false}}';
  expect(await synth("--stage", "production", "--settings", settings)).toEqual({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(
      /^stage production: network\.nat: webhooks need it; leave it out, or give true/,
    ),
  });
});

test.each([
  ["--stage", "staging", "--settings", "{webhooks"],
  ["--stage", "staging", "--settings", "[]"],
])("settings that are no object are refused: %s %s %s %s", async (...args) => {
  expect(await synth(...args)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("It must be a JSON object"),
  });
});
