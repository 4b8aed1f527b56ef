import { keepRefusedEvent, listActs } from "@owed/ledger";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createApp } from "../app.ts";
import { createDesk, type Desk, get, post } from "../testing/context.ts";
import { endOf, read } from "./testing.ts";

let desk: Desk;
let kept = 0;
beforeAll(async () => {
  desk = await createDesk();
});
afterAll(() => desk.end());
beforeEach(async () => {
  await desk.db.sql`DELETE FROM owed.refused_event`;
});

/** Keeps a refused event; returns its id. */
async function keep(queue: "event" | "feedback", body: string): Promise<string> {
  kept += 1;
  const refusal = { messageId: `m-${kept}`, field: "shipment_id", reason: "is not a known shipment" };
  await keepRefusedEvent(desk.db.ledger, { ...refusal, queue, body });
  const [row] = await desk.db.sql<{ id: string }[]>`SELECT max(id) AS id FROM owed.refused_event`;
  return row?.id ?? "";
}

/** The bodies in a queue, which are removed from it. */
async function drain(queue: "event" | "feedback"): Promise<string[]> {
  const { url } = desk.queues[queue];
  const bodies: string[] = [];
  for (let some = await desk.sqs.receive(url); some.length > 0; some = await desk.sqs.receive(url))
    for (const message of some) {
      bodies.push(message.Body ?? "");
      await desk.sqs.remove(url, message);
    }
  return bodies.toSorted();
}

test("listed with field and reason; a body is text, and what a terminal acts on is an escape", async () => {
  expect(read(await get(desk.app, "/dead/refused"))).toContain("No event was refused.");
  const id = await keep("event", '{"a": "<script>alert(1)</script>\u202e"}');
  const { text } = await get(desk.app, "/dead/refused");
  expect(read({ text })).toContain("1 event was refused, and kept.");
  expect(read({ text })).toMatch(new RegExp(`${id} event shipment_id is not a known shipment \\d+ not yet`));
  expect(text).toContain("&lt;script&gt;alert(1)");
  expect(text).not.toContain("<script>alert");
  expect(text).toContain("\\u{202e}");
  await keep("event", "{}");
  const newest = await get(desk.app, "/dead/refused?limit=1");
  expect(read(newest)).toMatch(/More than 1 event was refused.*… and more: show 1,000/);
  for (const limit of ["0", "1001", "many"])
    expect((await get(desk.app, `/dead/refused?limit=${limit}`)).status, limit).toBe(400);
});

test("some, and all of a queue: given back once, unless it is asked for again, and who did is kept", async () => {
  const [one, other, feedback] = [
    await keep("event", "{1}"),
    await keep("event", "{2}"),
    await keep("feedback", "{3}"),
  ];
  const chosen = await post(desk.app, "/dead/refused", { id: one, why: "registered" });
  expect([chosen.status, chosen.said]).toEqual([303, "Giving back 1 refused event has begun."]);
  expect(read(await endOf(desk.app, chosen.to))).toContain("1 refused event given back");
  expect(await drain("event")).toEqual(["{1}"]);
  expect(read(await get(desk.app, "/dead/refused"))).toMatch(/20\d\d\S* \S+ UTC by ada/);

  const twice = await endOf(
    desk.app,
    (await post(desk.app, "/dead/refused", { id: one, why: "registered" })).to,
  );
  expect(read(twice)).toMatch(/0 refused events given back.*not \d+: it was given back \S+Z by ada/);
  await endOf(
    desk.app,
    (await post(desk.app, "/dead/refused", { id: one, again: "on", why: "registered" })).to,
  );
  expect(await drain("event")).toEqual(["{1}"]);

  const all = await post(desk.app, "/dead/refused", { queue: "event", why: "corrected" });
  expect(read(await endOf(desk.app, all.to))).toContain("1 refused event given back");
  expect([await drain("event"), await drain("feedback")]).toEqual([["{2}"], []]);
  const rows = await desk.db.sql<{ id: string; by: string | null }[]>`
    SELECT id, retried_by AS by FROM owed.refused_event ORDER BY id`;
  expect(rows.map((row) => ({ ...row }))).toEqual([
    { id: one, by: "ada" },
    { id: other, by: "ada" },
    { id: feedback, by: null },
  ]);
  expect(await listActs(desk.db.ledger, 1)).toMatchObject([
    { actor: "ada", did: "gave_back", subject: "1 refused event of the event queue", why: "corrected" },
  ]);
});

test("refused: without the token, without a choice, in a console that only looks", async () => {
  const id = await keep("event", "{}");
  const looking = createApp({ ...desk.context, writer: null });
  expect((await post(desk.app, "/dead/refused", { id, token: null })).status).toBe(403);
  expect((await post(desk.app, "/dead/refused", { why: "x" })).text).toContain("Nothing was chosen");
  expect((await post(desk.app, "/dead/refused", { id: "1; DROP", why: "x" })).text).toContain(
    "is a whole number",
  );
  expect((await post(desk.app, "/dead/refused", { queue: "other", why: "x" })).text).toContain(
    "event and feedback",
  );
  expect((await post(desk.app, "/dead/refused", { id })).text).toContain("Say why");
  expect((await post(looking, "/dead/refused", { id })).status).toBe(403);
  const { text } = await get(looking, "/dead/refused");
  expect(text).toContain("shipment_id");
  expect(text).toContain("This console only looks");
  expect(text).not.toContain("<form");
  expect(await drain("event")).toEqual([]);
});
