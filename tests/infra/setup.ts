import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { ensurePlatform } from "./synth/platform.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** A folder in which the functions' bundles are kept: their sources are the same in all syntheses of a run. */
    bundles: string;
  }
}

export default async function setup(project: TestProject): Promise<() => void> {
  await ensurePlatform((line) => console.error(line));
  const bundles = mkdtempSync(join(tmpdir(), "owed-bundles-"));
  project.provide("bundles", bundles);
  return () => rmSync(bundles, { recursive: true, force: true });
}
