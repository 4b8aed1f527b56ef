import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { compare } from "./testing/compare.ts";
import { History } from "./testing/history.ts";
import { anyHistory } from "./testing/steps.ts";
import { takeStep } from "./testing/take-step.ts";

// The default is for every day; a longer hunt: OWED_HISTORIES=2000 and as many seconds as it takes.
const runs = Number(process.env.OWED_HISTORIES ?? 40);
const seconds = runs > 40 ? runs : 10;

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

test("any history of sweeps, workers, providers and operators does to the ledger what the protocol says", {
  timeout: 2 * seconds * 1000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory, async ({ counters, steps }) => {
      const history = new History(database, (ledger, model, what) =>
        expect({ [what]: ledger }).toEqual({ [what]: model }),
      );
      await history.begin(counters);
      for (const [place, each] of steps.entries()) {
        await takeStep(history, each);
        await compare(database, history, (ledger, model) =>
          expect(ledger, `after step ${place}: ${JSON.stringify(each)}`).toEqual(model),
        );
      }
    }),
    { numRuns: runs, interruptAfterTimeLimit: seconds * 1000 },
  );
});
