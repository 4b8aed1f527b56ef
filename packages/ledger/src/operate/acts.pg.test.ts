import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { listActs } from "../ask/list-acts.ts";
import { NotAllowed } from "../connect/errors.ts";
import { empty } from "../testing/rows.ts";
import { closeChannel } from "./close-channel.ts";
import { noteAct } from "./note-act.ts";
import { openChannel } from "./open-channel.ts";
import { pause } from "./pause.ts";
import { resume } from "./resume.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(async () => {
  await empty(database);
  await database.sql`DELETE FROM owed.act`;
});
afterAll(() => database.drop());

const acts = async () =>
  (await listActs(database.ledger, 10)).map(({ at: _, did, subject, actor, why }) => [
    did,
    subject,
    actor,
    why,
  ]);

test("who paused the sweeps and who let them run again is kept, when they did: what changed nothing is none", async () => {
  const { ledger } = database;
  expect(await resume(ledger, { actor: "early", why: null })).toBe(false);
  expect(await pause(ledger, "ann", "maintenance")).toBe(true);
  expect(await pause(ledger, "bob", "me too")).toBe(false);
  expect(await resume(ledger, { actor: "cid", why: "it is over" })).toBe(true);
  expect(await resume(ledger, { actor: "dan", why: "again" })).toBe(false);
  expect(await acts()).toEqual([
    ["resumed", "sweeps", "cid", "it is over"],
    ["paused", "sweeps", "ann", "maintenance"],
  ]);
});

test("so is who closed a channel, and who opened it", async () => {
  const { ledger } = database;
  expect(await openChannel(ledger, "sms", { actor: "early", why: "?" })).toBe(false);
  expect(await closeChannel(ledger, "sms", { actor: "ann", why: "a wrong text" })).toBe(true);
  expect(await closeChannel(ledger, "sms", { actor: "bob", why: "me too" })).toBe(false);
  expect(await openChannel(ledger, "sms", { actor: "cid", why: "corrected" })).toBe(true);
  await expect(openChannel(ledger, "pigeon", { actor: "eve", why: "x" })).rejects.toThrow(NotAllowed);
  await expect(closeChannel(ledger, "pigeon", { actor: "eve", why: "x" })).rejects.toThrow(NotAllowed);
  expect(await acts()).toEqual([
    ["opened", "sms", "cid", "corrected"],
    ["closed", "sms", "ann", "a wrong text"],
  ]);
});

test("what was done to a queue is kept as it is told, the newest first, and as many as are asked for", async () => {
  const { ledger } = database;
  await noteAct(ledger, "redrove", "the dead-letter queue of the event queue", { actor: "ann", why: null });
  await noteAct(ledger, "gave_back", "3 refused events", { actor: "bob", why: "registered" });
  expect(await acts()).toEqual([
    ["gave_back", "3 refused events", "bob", "registered"],
    ["redrove", "the dead-letter queue of the event queue", "ann", null],
  ]);
  expect(await listActs(ledger, 1)).toMatchObject([{ actor: "bob", at: expect.any(Date) }]);
});
