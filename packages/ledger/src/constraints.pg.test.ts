import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import {
  type Columns,
  empty,
  everyShape,
  newRow,
  readRow,
  reshape,
  type Shape,
  shapes,
} from "./testing/rows.ts";

// The table refuses impossible rows, whoever writes them.

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const refusal = (act: Promise<unknown>) =>
  act.then(
    () => null,
    (error) => error,
  );

const refused: [string, Shape, Columns][] = [
  ["state_is_known", "pending", { state: "'sent'" }],
  ["owed_until_finished", "pending", { owed_at: "NULL" }],
  ["owed_until_finished", "leased", { owed_at: "NULL" }],
  ["owed_until_finished", "queued", { owed_at: "NULL" }],
  ["owed_until_finished", "sending", { owed_at: "NULL" }],
  ["owed_until_finished", "delivered", { owed_at: "now()" }],
  ["owed_until_finished", "dead", { owed_at: "now()" }],
  ["owed_until_finished", "cancelled", { owed_at: "now()" }],
  ["delivered_once", "delivered", { delivered_at: "NULL" }],
  ["delivered_once", "sending", { delivered_at: "now()" }],
  ["delivered_on_evidence", "delivered", { evidence: "NULL" }],
  ["delivered_on_evidence", "unknown", { evidence: "'reply'" }],
  ["cancelled_at_a_time", "cancelled", { cancelled_at: "NULL" }],
  ["cancelled_at_a_time", "delivered", { cancelled_at: "now()" }],
  ["outcome_after_the_end", "dead", { outcome: "'bounced'" }],
  ["outcome_after_the_end", "queued", { outcome: "'accepted'" }],
  ["leased_has_an_end", "leased", { leased_until: "NULL" }],
  ["leased_has_an_end", "sending", { leased_until: "NULL" }],
  ["queued_has_a_time", "queued", { queued_at: "NULL" }],
  ["sending_was_claimed", "sending", { claimed_at: "NULL" }],
  ["sending_was_claimed", "sending", { message_id: "NULL" }],
  ["end_has_a_reason", "dead", { reason: "NULL" }],
  ["end_has_a_reason", "cancelled", { reason: "NULL" }],
  ["stopped_needs_a_person", "dead", { stopped_at: "NULL" }],
  ["stopped_needs_a_person", "held", { stopped_at: "NULL" }],
  ["stopped_needs_a_person", "unknown", { stopped_at: "now()" }],
  ["stopped_needs_a_person", "queued", { stopped_at: "now()" }],
  ["died_is_dead", "queued", { died_at: "now()" }],
  ["notification_outcome_check", "delivered", { outcome: "'read'" }],
  ["notification_evidence_check", "delivered", { evidence: "'hearsay'" }],
  ["notification_generation_check", "pending", { generation: "-1" }],
  ["notification_attempts_check", "pending", { attempts: "-1" }],
  ["notification_rescues_check", "pending", { rescues: "4" }],
  ["notification_resends_check", "pending", { resends: "4" }],
  ["notification_mode_check", "dead", { mode: "'owed'" }],
  ["held_for_the_old_sender", "pending", { mode: "'old'" }],
  ["held_for_the_old_sender", "pending", { owed_at: "'infinity'" }],
];

test.each(refused)("%s: %s with %j", async (constraint, shape, columns) => {
  const error = await refusal(newRow(database, shape, columns));
  expect(error).toMatchObject({ code: "23514", constraint_name: constraint });
});

test("each check of a notification is tested here", async () => {
  const checks = await database.sql<{ name: string }[]>`
    SELECT conname AS name FROM pg_constraint WHERE conrelid = 'owed.notification'::regclass AND contype = 'c' ORDER BY 1`;
  expect(checks.map(({ name }) => name)).toEqual([...new Set(refused.map(([name]) => name))].sort());
});

test.each(everyShape)("what the ledger's statements leave behind is possible: %s", async (shape) => {
  expect((await readRow(database, await newRow(database, shape))).id).toBeDefined();
});

describe("a row never leaves the end", () => {
  const ends: Shape[] = ["delivered", "cancelled"];
  const ways = ends.flatMap((end) =>
    everyShape.filter((shape) => shape !== end).map((shape) => [end, shape] as const),
  );

  test.each(ways)("%s to %s", async (end, shape) => {
    const id = await newRow(database, end);
    const before = await readRow(database, id);
    // Whole in every other respect, so that nothing but the way is refused.
    const cleared = {
      delivered_at: "NULL",
      cancelled_at: "NULL",
      evidence: "NULL",
      outcome: "'none'",
      stopped_at: "NULL",
    };
    const error = await refusal(reshape(database, id, shape, { ...cleared, ...shapes[shape] }));
    expect(error).toMatchObject({
      code: "OW002",
      message: expect.stringMatching(`^notification ${id} is ${end} and stays so`),
      hint: expect.any(String),
    });
    expect(await readRow(database, id)).toEqual(before);
  });

  test("and delivered_at never moves", async () => {
    const id = await newRow(database, "delivered");
    expect(
      await refusal(reshape(database, id, "delivered", { delivered_at: "now() + interval '1 s'" })),
    ).toMatchObject({ code: "OW002" });
  });

  test("but its outcome does", async () => {
    const id = await newRow(database, "delivered");
    await database.sql`UPDATE owed.notification SET outcome = 'bounced' WHERE id = ${id}`;
    expect((await readRow(database, id)).outcome).toBe("bounced");
  });
});

describe("names and addresses are not text of any kind", () => {
  const subscribe = (columns: {
    address?: string | null;
    name?: string | null;
    locale?: string;
    recipient?: string;
  }) => {
    const { address = "a@example.com", name = "Ann", locale = "en", recipient = "buyer-1" } = columns;
    return database.sql`
      INSERT INTO owed.subscriber (shipment_id, recipient_id, role, channel, address, name, locale)
      VALUES ('S-1', ${recipient}, 'buyer', 'email', ${address}, ${name}, ${locale})
      ON CONFLICT (shipment_id, recipient_id, channel) DO UPDATE SET name = excluded.name`;
  };
  beforeEach(() => database.sql`SELECT owed.register_shipment('S-1', 'M-1', 'Shop', 'T-1')`);

  test.each([
    [
      "a header in the address",
      { address: "a@example.com\r\nBcc: b@example.com" },
      "subscriber_address_check",
    ],
    ["a line break in the name", { name: "Ann\nBcc: b@example.com" }, "subscriber_name_check"],
    ["an escape in the name", { name: "\u001b[31mAnn" }, "subscriber_name_check"],
    ["a C1 control in the name", { name: "Ann\u0085" }, "subscriber_name_check"],
    [
      "an address that is too long",
      { address: `${"a".repeat(320)}@example.com` },
      "subscriber_address_check",
    ],
    ["a locale that is none", { locale: "en_US; DROP" }, "subscriber_locale_check"],
    ["a recipient with a space", { recipient: "buyer 1" }, "subscriber_recipient_id_check"],
  ])("%s", async (_, columns, constraint) => {
    expect(await refusal(subscribe(columns))).toMatchObject({ code: "23514", constraint_name: constraint });
  });

  test.each([
    "Zoë Müller-Łukasz",
    "佐藤 花子",
    "محمد علي",
    "👩‍🚀 Ada",
    "O'Brien; DROP TABLE owed.notification",
  ])("but %s is a name", async (name) => {
    await subscribe({ name });
    expect(await database.sql`SELECT name FROM owed.subscriber WHERE shipment_id = 'S-1'`).toEqual([
      { name },
    ]);
  });

  test("NUL is refused by the database, a lone surrogate arrives as U+FFFD", async () => {
    expect(await refusal(subscribe({ name: "A\u0000nn" }))).toMatchObject({ code: "22021" });
    await subscribe({ name: "A\ud83dnn" });
    expect(await database.sql`SELECT name FROM owed.subscriber WHERE shipment_id = 'S-1'`).toEqual([
      { name: "A\ufffdnn" },
    ]);
  });
});

describe("an operator's act has an actor and a reason", () => {
  test.each(["replayed", "resolved", "cancelled", "redriven"])("%s", async (kind) => {
    const id = await newRow(database);
    const told = (actor: string | null, reason: string | null) =>
      refusal(
        database.sql`INSERT INTO owed.attempt (notification_id, kind, generation, actor, reason) VALUES (${id}, ${kind}, 0, ${actor}, ${reason})`,
      );
    expect([await told(null, "why"), await told("ann", null), await told("ann", "why")]).toMatchObject([
      { constraint_name: "attempt_check" },
      { constraint_name: "attempt_check" },
      null,
    ]);
  });
});

test.each(["delivered", "cancelled"] as const)("nor does an archived one: %s", async (shape) => {
  const id = await newRow(database, shape);
  await database.sql`
    WITH moved AS (DELETE FROM owed.notification WHERE id = ${id} RETURNING *)
    INSERT INTO owed.notification_archive SELECT * FROM moved`;
  const change = (columns: string) =>
    refusal(database.sql.unsafe(`UPDATE owed.notification_archive SET ${columns} WHERE id = '${id}'`));
  const dead =
    "state = 'dead', delivered_at = NULL, evidence = NULL, outcome = 'none', cancelled_at = NULL, reason = 'no', stopped_at = now()";
  expect(await change(dead)).toMatchObject({ code: "OW002" });
  const later = await change("delivered_at = delivered_at + interval '1 s'");
  if (shape === "delivered") expect(later).toMatchObject({ code: "OW002" });
  expect(await change("provider = 'ses'")).toBeNull();
});

test("an archived one that is dead may still turn out to be delivered", async () => {
  const id = await newRow(database, "dead");
  await database.sql`
    WITH moved AS (DELETE FROM owed.notification WHERE id = ${id} RETURNING *)
    INSERT INTO owed.notification_archive SELECT * FROM moved`;
  await database.sql`
    UPDATE owed.notification_archive SET state = 'delivered', delivered_at = now(), evidence = 'feedback', outcome = 'accepted',
      died_at = NULL, stopped_at = NULL WHERE id = ${id}`;
  expect(await database.sql`SELECT state FROM owed.notification_archive WHERE id = ${id}`).toEqual([
    { state: "delivered" },
  ]);
});
