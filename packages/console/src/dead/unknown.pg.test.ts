import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { empty, newRow, readRow, readTries } from "../../../ledger/src/testing/rows.ts";
import { createApp } from "../app.ts";
import { createDesk, type Desk, get, post } from "../testing/context.ts";
import { read } from "./testing.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await createDesk();
});
afterAll(() => desk.end());
beforeEach(() => empty(desk.db));

const hostile = `<script>alert("x")</script>`;
const lastAct = async (id: string) => {
  const [row] = await desk.db.sql`
    SELECT kind, actor, reason FROM owed.attempt WHERE notification_id = ${id} AND actor IS NOT NULL ORDER BY id DESC LIMIT 1`;
  return { ...row };
};

test("what is known of each: tries, since when, evidence; and no reason is markup", async () => {
  const id = await newRow(desk.db, "held", { reason: `'${hostile}'`, attempts: "3", resends: "2" });
  const silent = await newRow(desk.db, "held", { reason: "NULL" });
  const waiting = await newRow(desk.db, "unknown");
  const { text } = await get(desk.app, "/dead/unknown");
  expect(read({ text })).toContain("2 notifications wait for somebody to say whether it was sent");
  expect(text).toContain(`<a href="/notified/${id}">${id}</a>`);
  expect(text).toContain("none; sent again 2 times already");
  expect(text).toContain("&lt;script&gt;alert");
  expect(text).not.toContain("<script>alert");
  expect(text).toContain(silent);
  expect(text).not.toContain(waiting);
  expect((await get(desk.app, "/dead/unknown?channel=sms")).text).not.toContain(id);
});

test("resolved as sent, and sent again: several at once, with who and why", async () => {
  const [sent, also, again] = [
    await newRow(desk.db, "held"),
    await newRow(desk.db, "held"),
    await newRow(desk.db, "held"),
  ];
  const first = await post(desk.app, "/dead/resolve", { id: [sent, also], as: "sent", why: "she has it" });
  expect([first.status, first.said]).toEqual([303, "2 notifications resolved as sent."]);
  expect(await readRow(desk.db, also)).toMatchObject({ state: "delivered", evidence: "operator" });
  expect(await lastAct(sent)).toEqual({ kind: "resolved", actor: "ada", reason: "she has it" });
  const second = await post(desk.app, "/dead/resolve", { id: again, as: "resend", why: "not in its log" });
  expect(second.said).toBe("1 notification owed again, and counted as possible duplicates.");
  expect(await readRow(desk.db, again)).toMatchObject({ state: "pending", generation: 1 });
  expect((await readTries(desk.db, again)).toSorted()).toEqual(["replayed", "resent"]);
  expect(await lastAct(again)).toMatchObject({ actor: "ada" });
});

test("somebody was faster, it is no longer true, or there is none: told, and holds back no other", async () => {
  const missing = "0199d0c5-7a3e-7c1f-9b2e-3f6a51c20001";
  const [id, untrue, done] = [
    await newRow(desk.db, "held"),
    await newRow(desk.db, "held", {
      due_at: "now() - interval '2 hours'",
      send_by: "now() - interval '1 hour'",
    }),
    await newRow(desk.db, "delivered"),
  ];
  const again = await post(desk.app, "/dead/resolve", {
    id: [id, untrue, done, missing],
    as: "resend",
    why: "x",
  });
  expect(again.said).toBe(
    `1 notification owed again, and counted as possible duplicates. Not ${untrue}: it has expired. Not ${done}: somebody was faster: it is delivered. Not ${missing}: there is no such notification.`,
  );
  const late = await post(desk.app, "/dead/resolve", { id: [id, missing, untrue], as: "sent", why: "x" });
  expect(late.said).toContain("1 notification resolved as sent.");
  expect(late.said).toContain(`Not ${id}: notification ${id} is pending and can't be resolved as sent`);
  expect((await readRow(desk.db, id)).state).toBe("pending");
});

test("refused: without the token, a reason, a choice or an answer, and in a console that only looks", async () => {
  const id = await newRow(desk.db, "held");
  const looking = createApp({ ...desk.context, writer: null });
  const good = { id, as: "sent", why: "x" };
  expect((await post(desk.app, "/dead/resolve", { ...good, token: null })).status).toBe(403);
  expect((await post(desk.app, "/dead/resolve", { ...good, why: null })).status).toBe(400);
  expect((await post(desk.app, "/dead/resolve", { ...good, id: null })).text).toContain("Nothing was chosen");
  expect((await post(desk.app, "/dead/resolve", { ...good, as: "perhaps" })).text).toContain(
    "Say what became of",
  );
  expect((await post(looking, "/dead/resolve", good)).status).toBe(403);
  const { text } = await get(looking, "/dead/unknown");
  expect(text).toContain(id);
  expect(text).toContain("This console only looks");
  expect(text).not.toContain('method="post"');
  expect((await readRow(desk.db, id)).state).toBe("unknown");
});
