import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { happen, registerShipment } from "../../../../tests/support/shipment.ts";
import { audit } from "../ask/audit.ts";
import { show } from "../ask/show.ts";
import { passDays, retainAll, startRound, whereRowsAre } from "../testing/retention.ts";
import { everyShape, shapes as looks, readRows, reshape, type Shape } from "../testing/rows.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

const over = ["delivered", "cancelled", "dead"] as const;
const anyEvent = fc.record({
  status: fc.constantFrom("picked_up", "delivery_exception", "out_for_delivery", "customs_hold"),
  shapes: fc.array(fc.constantFrom(...everyShape, ...over, ...over), {
    maxLength: 6,
  }),
  old: fc.boolean(),
});

test("the audit answers the same before and after, whatever happened; all of a shipment is on one side", async () => {
  const anyLedger = fc.array(fc.array(anyEvent, { minLength: 1, maxLength: 4 }), {
    minLength: 1,
    maxLength: 4,
  });
  let moved = 0;
  await fc.assert(
    fc.asyncProperty(anyLedger, fc.integer({ min: 1, max: 9 }), async (shipments, most) => {
      const ids: string[] = [];
      for (const _ of shipments) ids.push(await registerShipment(database, ["buyer", "agent", "merchant"]));
      const happened = async (old: boolean) => {
        for (const [place, events] of shipments.entries())
          for (const event of events) if (event.old === old) await play(ids[place] ?? "", event);
      };
      await happened(true);
      await passDays(database, 91);
      await happened(false);
      const answers = async () => {
        const rows = await Promise.all(ids.map((shipmentId) => audit(database.ledger, { shipmentId })));
        return Promise.all(rows.flat().map(({ id }) => show(database.ledger, id)));
      };
      await startRound(database);
      const before = await answers();
      moved += (await retainAll(database, most)).moved;
      expect(await answers()).toEqual(before);
      const { here, archived } = await whereRowsAre(database);
      expect([...here, ...archived]).toEqual(expect.arrayContaining(before.map(({ id }) => id)));
      expect(new Set([...here, ...archived]).size).toBe(here.length + archived.length);
      const shipmentOf = new Map(before.map(({ id, shipmentId }) => [id, shipmentId]));
      const still = new Set(here.map((id) => shipmentOf.get(id)));
      expect(archived.filter((id) => shipmentOf.has(id) && still.has(shipmentOf.get(id)))).toEqual([]);
    }),
    { numRuns: 6, examples: [[[[{ status: "picked_up", shapes: ["delivered"], old: true }]], 5]] },
  );
  expect(moved).toBeGreaterThan(0);
});

type Event = { status: string; shapes: Shape[] };

/** An event, and what became of the shipment's newest rows by then. */
async function play(shipment: string, { status, shapes }: Event): Promise<void> {
  await happen(database, shipment, status);
  const rows = await readRows(database, shipment);
  for (const [place, shape] of shapes.entries()) {
    const row = rows.at(-1 - place);
    // What has ended stays as it is.
    if (row && row.state !== "delivered" && row.state !== "cancelled")
      await reshape(database, row.id, shape, looksLike(shape));
  }
}

const looksLike = (shape: Shape) => ({ died_at: "NULL", stopped_at: "NULL", ...looks[shape] });
