import { defineConfig } from "vitest/config";

/** Tests are named by what they need: `*.pg.test.ts` a database, `tests/` the whole local stack, the others nothing. */
export default defineConfig({
  test: {
    // Two cores: more workers only make each other's waits longer.
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: "unit",
          include: ["packages/**/*.test.ts"],
          exclude: ["**/node_modules/**", "**/*.pg.test.ts"],
          testTimeout: 20_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: "pg",
          include: ["packages/**/*.pg.test.ts"],
          globalSetup: "tests/support/cluster.ts",
          testTimeout: 20_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: "flow",
          include: ["tests/**/*.test.ts"],
          globalSetup: "tests/support/cluster.ts",
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
