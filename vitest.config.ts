import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// Node keeps what it compiled of the packages for the next process: of the AWS SDK's clients above all.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(
  new URL("node_modules/.cache/node-compile", import.meta.url),
);

/** These need a process of their own: SST's `Resource` reads the environment once, and a mocked module stays mocked. */
const alone = [
  "packages/functions/src/*/handler.pg.test.ts",
  "packages/functions/src/resources*.test.ts",
  "packages/cli/src/services.pg.test.ts",
];
/** What is deployed: needs SST's platform (`npm run synth` installs it), and is no part of `npm test`. */
const infra = ["tests/infra/**/*.test.ts", "tests/bundles/**/*.test.ts"];
/** The console in a Chromium: where none starts, these say why and are left out. */
const browser = ["tests/browser/**/*.test.ts"];
const notTests = "**/node_modules/**";
/** A process for each file would cost more time than most files do. */
const together = { isolate: false, setupFiles: "tests/support/tidy.ts" };
const cluster = "tests/support/cluster.ts";
const patience = { testTimeout: 20_000, hookTimeout: 60_000 };

/** Tests are named by what they need: `*.pg.test.ts` a database, `tests/` the whole local stack, the others nothing. */
export default defineConfig({
  test: {
    // One more than two cores: somebody always waits for a process to start, or for a server's answer.
    maxWorkers: 3,
    projects: [
      {
        test: {
          name: "unit",
          include: ["packages/**/*.test.ts"],
          exclude: [notTests, "**/*.pg.test.ts", ...alone],
          ...together,
          ...patience,
        },
      },
      {
        test: {
          name: "pg",
          include: ["packages/**/*.pg.test.ts"],
          exclude: [notTests, ...alone],
          globalSetup: cluster,
          ...together,
          ...patience,
        },
      },
      { test: { name: "alone", include: alone, exclude: [notTests], globalSetup: cluster, ...patience } },
      {
        test: {
          name: "flow",
          include: ["tests/**/*.test.ts"],
          exclude: [notTests, ...infra, ...browser],
          globalSetup: cluster,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: "browser",
          include: browser,
          globalSetup: "tests/browser/support/setup.ts",
          // Node runs the product as `npm start` does: vite in between has no `import.meta.resolve`.
          server: { deps: { external: [/\/packages\/[a-z]+\/src\//] } },
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          name: "infra",
          include: infra,
          globalSetup: [cluster, "tests/infra/setup.ts"],
          // Each file of the synthesis runs two of them at a time.
          maxWorkers: 1,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
