import { glob } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { launchBrowser, NoBrowser } from "./launch.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where the run's browser is reached, or why there is none, and whether that is a failure. */
    browser: { endpoint: string } | { endpoint: null; why: string; required: boolean };
  }
}

/**
 * One browser for a test run. Where none starts, the run says so and goes on without these tests; with
 * `OWED_BROWSER=required`, as in CI, they fail.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  try {
    const server = await launchBrowser();
    project.provide("browser", { endpoint: server.wsEndpoint() });
    return () => server.close();
  } catch (error) {
    if (!(error instanceof NoBrowser)) throw error;
    const required = process.env.OWED_BROWSER === "required";
    const why = await noteOf(error);
    project.provide("browser", { endpoint: null, why, required });
    if (required) return async () => {};
    console.warn(why);
    // Once more where people look: at the end.
    return async () => console.warn(why);
  }
}

async function noteOf({ message }: NoBrowser): Promise<string> {
  const files: string[] = [];
  const root = fileURLToPath(new URL("../../..", import.meta.url));
  for await (const file of glob("tests/browser/**/*.test.ts", { cwd: root })) files.push(file);
  return `
No Chromium starts on this machine, so the tests in a browser did not run:
${files
  .toSorted()
  .map((file) => `  ${file}`)
  .join("\n")}
Why:
${message.replaceAll(/^/gm, "  ")}
Install one (apt-get install chromium), or name one: OWED_CHROMIUM=/path/to/chromium npm run test:browser
`;
}
