import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { NotAllowed, NotificationNotFound } from "../connect/errors.ts";
import { claimRow, receive, take } from "../testing/act.ts";
import { empty, everyShape, newRow, readRow, type Shape, stateOf } from "../testing/rows.ts";
import { cancel } from "./cancel.ts";
import { replay } from "./replay.ts";
import { resolveAsSent } from "./resolve-as-sent.ts";
import { sendAgain } from "./send-again.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const act = { actor: "ann", why: "the customer called" };
const tries = (id: string) =>
  database.sql`SELECT kind, actor, reason, generation FROM owed.attempt WHERE notification_id = ${id} ORDER BY id`;
const none = { ids: [], moot: new Map() };
const refusal = (operation: Promise<unknown>) =>
  operation.then(
    () => null,
    (error: Error) => error,
  );
const other = (...allowed: Shape[]) => everyShape.filter((shape) => !allowed.includes(shape));

describe("replay (19)", () => {
  const allowed: Shape[] = ["dead", "lost", "unknown", "held"];

  test.each(allowed)(
    "owes a row that is %s again: next generation, counters at nought, by whom and why",
    async (shape) => {
      const id = await newRow(database, shape, { rescues: "3", resends: "2" });
      const before = await readRow(database, id);
      expect(await replay(database.ledger, [id], act, "replayed")).toEqual({ ids: [id], moot: new Map() });
      expect(await readRow(database, id)).toMatchObject({
        state: "pending",
        generation: before.generation + 1,
        lease_token: before.lease_token,
        attempts: before.attempts,
        rescues: 0,
        resends: 0,
        died_at: null,
        stopped_at: null,
        reason: null,
      });
      const [told, resent] = await tries(id);
      expect(told).toMatchObject({
        kind: "replayed",
        actor: "ann",
        generation: before.generation + 1,
        reason: expect.stringMatching(/^the customer called/),
      });
      // Its first send may have arrived.
      if (stateOf(shape) === "unknown")
        expect(resent).toMatchObject({
          kind: "resent",
          reason: expect.stringMatching(/^possible duplicate/),
        });
      else expect(resent).toBeUndefined();
      expect((await take(database)).leased).toMatchObject([{ id, generation: before.generation + 1 }]);
    },
  );

  test.each(other(...allowed))("leaves a row that is %s as it is", async (shape) => {
    const id = await newRow(database, shape);
    const before = await readRow(database, id);
    expect(await replay(database.ledger, [id], act, "redriven")).toEqual(none);
    expect(await readRow(database, id)).toEqual(before);
    expect(await tries(id)).toEqual([]);
  });

  test("of many replays those that may be, each once", async () => {
    const [dead, delivered, unknown] = [
      await newRow(database, "dead"),
      await newRow(database, "delivered"),
      await newRow(database, "unknown"),
    ];
    const replayed = await replay(
      database.ledger,
      [unknown, delivered, dead, dead, randomUUID()],
      act,
      "replayed",
    );
    expect({ ...replayed, ids: replayed.ids.toSorted() }).toEqual({
      ids: [dead, unknown].sort(),
      moot: new Map(),
    });
    expect((await tries(dead)).map(({ kind }) => kind)).toEqual(["replayed"]);
    expect(await replay(database.ledger, [], act, "redriven")).toEqual(none);
  });

  test("leaves a row that nobody wants any more as it is, and says why not", async () => {
    const [expired, dead, unknown] = [
      await newRow(database, "dead", { send_by: "now()" }),
      await newRow(database, "dead"),
      await newRow(database, "held", { send_by: "now()" }),
    ];
    const before = [await readRow(database, expired), await readRow(database, unknown)];
    expect(await replay(database.ledger, [expired, dead, unknown], act, "replayed")).toEqual({
      ids: [dead],
      moot: new Map([
        [expired, "expired"],
        [unknown, "expired"],
      ]),
    });
    expect([await readRow(database, expired), await readRow(database, unknown)]).toEqual(before);
    expect([await tries(expired), await tries(unknown)]).toEqual([[], []]);
  });

  test("a redrive takes what is dead, and leaves what somebody else has owed again and whose outcome is unknown by now", async () => {
    const [dead, lost, unknown, held] = [
      await newRow(database, "dead"),
      await newRow(database, "lost"),
      await newRow(database, "unknown"),
      await newRow(database, "held"),
    ];
    const { ids } = await replay(database.ledger, [dead, lost, unknown, held], act, "redriven");
    expect(ids.toSorted()).toEqual([dead, lost].toSorted());
    expect([await tries(unknown), await tries(held)]).toEqual([[], []]);
  });

  test("makes the dead row's old message stale", async () => {
    const id = await newRow(database, "dead");
    await replay(database.ledger, [id], act, "replayed");
    expect(await receive(database, id, { messageId: "M-1" })).toEqual({ verdict: "stale" });
  });
});

describe("resolve as sent (20)", () => {
  const allowed: Shape[] = ["dead", "lost", "unknown", "held"];

  test.each(allowed)("delivers a row that is %s on the operator's evidence", async (shape) => {
    const id = await newRow(database, shape);
    await resolveAsSent(database.ledger, id, act);
    expect(await readRow(database, id)).toMatchObject({
      state: "delivered",
      delivered_at: expect.any(Date),
      evidence: "operator",
      outcome: "accepted",
      owed_at: null,
      died_at: null,
      stopped_at: null,
      reason: null,
      provider_message_id: null,
    });
    expect(await tries(id)).toMatchObject([
      { kind: "resolved", actor: "ann", reason: "the customer called" },
    ]);
  });

  test.each(other(...allowed))("is refused for a row that is %s, with what is allowed", async (shape) => {
    const id = await newRow(database, shape);
    const before = await readRow(database, id);
    const error = await refusal(resolveAsSent(database.ledger, id, act));
    expect(error).toBeInstanceOf(NotAllowed);
    expect(error?.message).toBe(
      `notification ${id} is ${shape} and can't be resolved as sent: only an unknown or dead one is`,
    );
    expect(await readRow(database, id)).toEqual(before);
    expect(await tries(id)).toEqual([]);
  });
});

describe("cancel (18)", () => {
  const allowed: Shape[] = ["pending", "leased", "queued", "dead", "lost", "held"];

  test.each(allowed)("ends a row that is %s, with the reason", async (shape) => {
    const id = await newRow(database, shape);
    await cancel(database.ledger, id, act);
    expect(await readRow(database, id)).toMatchObject({
      state: "cancelled",
      cancelled_at: expect.any(Date),
      owed_at: null,
      died_at: null,
      stopped_at: null,
      reason: "cancelled: the customer called",
    });
    expect(await tries(id)).toMatchObject([
      { kind: "cancelled", actor: "ann", reason: "the customer called" },
    ]);
  });

  test.each(other(...allowed))("is refused for a row that is %s", async (shape) => {
    const id = await newRow(database, shape);
    const before = await readRow(database, id);
    const error = await refusal(cancel(database.ledger, id, act));
    expect(error).toBeInstanceOf(NotAllowed);
    expect(error?.message).toMatch(new RegExp(`^notification ${id} is ${shape} and can't be cancelled: `));
    expect(await readRow(database, id)).toEqual(before);
  });

  test("fences the sweep that has just published the row: its message is acknowledged without a send", async () => {
    const id = await newRow(database);
    await take(database);
    await cancel(database.ledger, id, act);
    expect(await receive(database, id)).toEqual({ verdict: "done" });
  });
});

describe("send again", () => {
  test("owes a new row that names the delivered one, which stays as it is", async () => {
    const id = await newRow(database, "delivered");
    const before = await readRow(database, id);
    const again = await sendAgain(database.ledger, id, act);
    expect(await readRow(database, id)).toEqual(before);
    expect(await readRow(database, again)).toMatchObject({
      state: "pending",
      replays: id,
      generation: 0,
      lease_token: 0,
      attempts: 0,
      send_by: null,
    });
    expect(again).toBe(`${id.slice(0, 32)}0002`);
    expect(await tries(again)).toMatchObject([
      { kind: "replayed", actor: "ann", reason: "the customer called" },
    ]);
    expect((await take(database)).leased).toMatchObject([{ id: again }]);
    expect(await claimRow(database, again)).toMatchObject({ address: "buyer@example.com" });
  });

  test("ten times at once: ten rows", async () => {
    const id = await newRow(database, "delivered");
    const again = await Promise.all(Array.from({ length: 10 }, () => sendAgain(database.ledger, id, act)));
    expect(new Set(again).size).toBe(10);
  });

  test.each(other("delivered"))("is refused for a row that is %s", async (shape) => {
    const id = await newRow(database, shape);
    const error = await refusal(sendAgain(database.ledger, id, act));
    expect(error).toBeInstanceOf(NotAllowed);
    expect(error?.message).toMatch(
      new RegExp(`^notification ${id} is ${stateOf(shape)} and can't be sent again: `),
    );
    expect(await database.sql`SELECT FROM owed.notification`).toHaveLength(1);
  });
});

test("of a notification that is not there, each says so, and how to find one", async () => {
  for (const operation of [resolveAsSent, cancel, sendAgain]) {
    const error = await refusal(operation(database.ledger, "00000000-0000-7000-8000-000000000001", act));
    expect(error).toBeInstanceOf(NotificationNotFound);
    expect(error?.message).toMatch(/^there is no notification 00000000-.*owed audit/);
  }
});
