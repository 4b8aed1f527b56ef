import fc from "fast-check";
import { expect, test } from "vitest";
import { createDatabase } from "../../../tests/support/database.ts";
import { Run } from "./testing/history.ts";
import { anyStep } from "./testing/steps.ts";
test("cover", { timeout: 200000 }, async () => {
  const database = await createDatabase();
  const counts: Record<string, number> = {};
  const add = (k: string, n = 1) => { counts[k] = (counts[k] ?? 0) + n; };
  let n = 0;
  await fc.assert(fc.asyncProperty(fc.array(anyStep, { minLength: 5, maxLength: 60 }), async (steps) => {
    n++;
    const run = new Run(database, (_l, m, what) => {
      if (what === "slice") for (const [k, v] of Object.entries(m as object)) { if (typeof v === "number") add("slice." + k, v); if (k === "leased") add("slice.leased", v.length); }
      else if (what.startsWith("verdict")) add("verdict." + (m as { verdict: string }).verdict);
      else if (what === "weighed") add("weighed." + JSON.stringify({ ...(m as object[])[0], id: 0 }));
      else add(what + (Array.isArray(m) ? (m.length > 0 ? ".some" : ".none") : "." + String(m)));
    });
    await run.begin();
    for (const s of steps) await run.step(s);
    for (const r of run.rows) { add("end." + r.state); for (const t of r.tries) add("try." + t); if (r.rescues === 3) add("rescues3"); if (r.resends === 3) add("resends3"); }
  }), { numRuns: 150 });
  console.log(n, Object.fromEntries(Object.entries(counts).sort()));
  await database.drop();
  expect(1).toBe(1);
});
