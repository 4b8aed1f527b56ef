import { Ledger } from "@owed/ledger";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { registerShipment } from "../../../../tests/support/shipment.ts";
import { acknowledged, comesAgainIn } from "../testing/disposals.ts";
import { bodyOf } from "../testing/events.ts";
import { startGate } from "../testing/gate.ts";
import { nothing, readKept, take } from "../testing/ingestions.ts";
import { type RecordOptions, recordOf } from "../testing/records.ts";
import { empty } from "../testing/rows.ts";

let database: TestDatabase;
let shipment: string;
beforeAll(async () => {
  database = await createDatabase();
  shipment = await registerShipment(database, ["buyer", "agent"]);
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const about = (more: Record<string, unknown> = {}, options: RecordOptions = {}) =>
  recordOf(bodyOf({ shipment_id: shipment, ...more }), options);

test("an unknown shipment may be registered yet: tried for a quarter of an hour, then refused and kept", async () => {
  const minutesAgo = (minutes: number) => Date.now() - minutes * 60_000;
  const early = [
    { receives: 1, sentAt: minutesAgo(0), wait: 30 },
    { receives: 3, sentAt: minutesAgo(2), wait: 120 },
    { receives: 29, sentAt: minutesAgo(14), wait: 240 },
  ];
  for (const { wait, ...options } of early) {
    const event = recordOf(bodyOf({ shipment_id: "S-none" }), options);
    const { counts, disposals, onError } = await take(database.ledger, [event, about()]);
    expect(counts).toMatchObject({ recorded: 1, postponed: 1 });
    expect(disposals).toEqual([comesAgainIn(wait), acknowledged]);
    expect(onError).toHaveBeenCalledOnce();
  }
  expect(await readKept(database)).toEqual([]);
  const late = recordOf(bodyOf({ shipment_id: "S-none" }), { receives: 2, sentAt: minutesAgo(16) });
  const { counts, disposals } = await take(database.ledger, [late]);
  expect({ counts, disposals }).toEqual({ counts: { ...nothing, refused: 1 }, disposals: [acknowledged] });
  expect(await readKept(database)).toEqual([{ field: "shipment_id", reason: "is not a known shipment" }]);
});

test("registered meanwhile, it is recorded", async () => {
  const body = bodyOf({ shipment_id: "S-late" });
  expect((await take(database.ledger, [recordOf(body)])).counts).toMatchObject({ postponed: 1 });
  await registerShipment(database, ["buyer"], "S-late");
  expect((await take(database.ledger, [recordOf(body, { receives: 2 })])).counts).toMatchObject({
    recorded: 1,
  });
});

describe("an error of the database's", () => {
  const poisoned = async (run: () => Promise<void>) => {
    const { sql } = database;
    await sql`
      CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'poison'; END $$`;
    await sql`
      CREATE TRIGGER poison BEFORE INSERT ON owed.event FOR EACH ROW WHEN (NEW.id = 'E-poison') EXECUTE FUNCTION poison()`;
    await run().finally(() => sql`DROP FUNCTION poison CASCADE`);
  };
  const batchWithPoison = (shipment_id: string) =>
    Array.from({ length: 10 }, (_, place) =>
      about(place === 3 ? { id: "E-poison", shipment_id } : {}, { receives: 2 }),
    );
  const onlyPoisonAgain = Array.from({ length: 10 }, (_, place) =>
    place === 3 ? comesAgainIn(30) : acknowledged,
  );

  test("for one event harms no neighbour: it comes again", async () => {
    const batch = batchWithPoison(await registerShipment(database, ["buyer"], "A-1"));
    await poisoned(async () => {
      const { counts, disposals, onError } = await take(database.ledger, batch);
      expect(counts).toMatchObject({ recorded: 9, postponed: 1, refused: 0 });
      expect(disposals).toEqual(onlyPoisonAgain);
      expect(onError).toHaveBeenCalledExactlyOnceWith(
        "an event comes again: it could not be recorded",
        expect.objectContaining({ message: "poison" }),
      );
    });
    expect((await take(database.ledger, batch)).counts).toMatchObject({ recorded: 1, repeated: 9 });
  });

  // The driver puts as many holes before the next answer as rows had come before the error
  // (porsager/postgres#1181): a neighbour that is recorded would come again as well.
  test("after some answers had come already harms no neighbour either", async () => {
    const batch = batchWithPoison(await registerShipment(database, ["buyer"], "T-1"));
    await poisoned(async () =>
      expect((await take(database.ledger, batch)).disposals).toEqual(onlyPoisonAgain),
    );
  });

  test("a shipment that somebody keeps locked holds up its own event alone", async () => {
    const locked = await registerShipment(database, ["buyer"], "A-2");
    const impatient = new Ledger({ ...database.options, deadline: 1 });
    await database.sql.begin(async (transaction) => {
      await transaction`SELECT FROM owed.shipment WHERE id = ${locked} FOR UPDATE`;
      const { counts, disposals } = await take(impatient, [about(), about({ shipment_id: locked }), about()]);
      expect(counts).toMatchObject({ recorded: 2, postponed: 1 });
      expect(disposals).toEqual([acknowledged, comesAgainIn(10), acknowledged]);
    });
    await impatient.close();
  });

  test("with no time left to try one by one, all come again", async () => {
    const batch = batchWithPoison(await registerShipment(database, ["buyer"], "A-3"));
    let left = 14;
    await poisoned(async () => {
      // One second for each look at the clock: the first two are tried.
      const { counts, disposals } = await take(database.ledger, batch, () => left--);
      expect(counts).toMatchObject({ recorded: 2, postponed: 8 });
      expect(disposals).toEqual([...Array(2).fill(acknowledged), ...Array(8).fill(comesAgainIn(30))]);
    });
  });

  test("a refused event that can't be kept comes again", async () => {
    await database.sql`ALTER TABLE owed.refused_event ADD CONSTRAINT full_up CHECK (false) NOT VALID`;
    const { counts, disposals } = await take(database.ledger, [recordOf("{"), about()]);
    expect(counts).toMatchObject({ recorded: 1, refused: 0, postponed: 1 });
    expect(disposals).toEqual([comesAgainIn(10), acknowledged]);
    await database.sql`ALTER TABLE owed.refused_event DROP CONSTRAINT full_up`;
  });
});

test("the database away: all come again, later from time to time, and nothing is acknowledged", async () => {
  const gate = await startGate(database.options);
  const ledger = new Ledger({ ...database.options, port: gate.port });
  gate.shut();
  const batch = [
    about(),
    recordOf("{"),
    about({}, { receives: 4 }),
    recordOf(bodyOf({ status: "teleported" }), { receives: 3 }),
  ];
  const { counts, disposals, onError } = await take(ledger, batch);
  expect(counts).toEqual({ ...nothing, postponed: 4 });
  expect(disposals).toEqual([10, 10, 60, 60].map(comesAgainIn));
  expect(onError).toHaveBeenCalledTimes(4);
  gate.open();
  expect((await take(ledger, batch)).counts).toMatchObject({ recorded: 2, refused: 2, postponed: 0 });
  await ledger.close();
  await gate.close();
});
