import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { anyText, fc, mutated, tally, written } from "../../../tests/hostile/arbitraries.ts";
import { configure } from "./configuration.ts";
import { Failure } from "./errors.ts";

const folder = mkdtempSync(join(tmpdir(), "owed-configuration-"));
const file = join(folder, "env.json");
afterAll(() => rmSync(folder, { recursive: true }));

const seen = tally("taken", "refused");

const left = fc.dictionary(
  fc.oneof(fc.constantFrom("SST_RESOURCE_App", "AWS_REGION", "__proto__", "constructor", "PATH"), anyText),
  anyText,
  { maxKeys: 5 },
);

test("any file that the local stack left is an environment of texts, or refused whole", () => {
  fc.assert(
    fc.property(written(mutated(left)), (content) => {
      writeFileSync(file, content);
      const before = { AWS_PROFILE: "production", HOME: "/root" };
      const env: NodeJS.ProcessEnv = { ...before };
      try {
        expect(configure(env, file).hint).toContain("env.json says where it is");
        seen.count("taken");
        expect(Object.getPrototypeOf(env)).toBe(Object.prototype);
        for (const value of Object.values(env)) expect(typeof value).toBe("string");
        if (!content.includes("AWS_PROFILE")) expect(env.AWS_PROFILE).toBeUndefined();
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        seen.count("refused");
        expect(error.kind).toBe("not_configured");
        expect(error.message).toMatch(
          /^\S+env\.json is not a JSON object of texts: delete it, then start [ -~]+$/,
        );
        expect(env).toEqual(before);
      }
    }),
    { numRuns: 300 },
  );
  expect(seen.rarest(), JSON.stringify(seen.reached)).toBeGreaterThan(30);
});
