import fc from "fast-check";
import { expect, test } from "vitest";
import { createDatabase } from "../../../tests/support/database.ts";
import { compare } from "./testing/compare.ts";
import { Run } from "./testing/history.ts";
import { anyHistory } from "./testing/steps.ts";
test("cover", { timeout: 200000 }, async () => {
  const database = await createDatabase();
  const counts: Record<string, number> = {};
  const add = (k: string, n = 1) => { counts[k] = (counts[k] ?? 0) + n; };
  let n = 0; let steps_ = 0; const t = Date.now();
  await fc.assert(fc.asyncProperty(anyHistory, async (steps) => {
    n++; steps_ += steps.length;
    const run = new Run(database, (l, m, what) => {
      expect({ [what]: l }).toEqual({ [what]: m });
      if (what === "slice") for (const [k, v] of Object.entries(m as object)) { if (typeof v === "number") add("slice." + k, v); if (k === "leased") add("slice.leased", v.length); }
      else if (what.startsWith("verdict")) add("verdict." + (m as { verdict: string }).verdict);
      else if (what === "weighed") add("weighed." + JSON.stringify({ ...(m as object[])[0], id: 0 }));
      else add(what + (Array.isArray(m) ? (m.length > 0 ? ".some" : ".none") : "." + String(m)));
    });
    await run.begin();
    for (const [place, each] of steps.entries()) { await run.step(each);
        await compare(database, run, (ledger, model) =>
          expect(ledger, `after step ${place}: ${JSON.stringify(each)}`).toEqual(model)); }
    for (const r of run.rows) { add("end." + r.state); for (const t of r.tries) add("try." + t); if (r.rescues === 3) add("rescues3"); if (r.resends === 3) add("resends3"); }
  }), { numRuns: 60 });
  console.log(n, steps_, Date.now() - t, Object.fromEntries(Object.entries(counts).sort()));
  await database.drop();
});
