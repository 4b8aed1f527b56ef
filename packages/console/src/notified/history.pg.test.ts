import { claim, defaultDurations } from "@owed/ledger";
import { afterAll, beforeAll, expect, test } from "vitest";
import { happen, registerShipment } from "../../../../tests/support/shipment.ts";
import { deliverAs, idsOf } from "../../../cli/src/testing.ts";
import { createApp } from "../app.ts";
import { createDesk, type Desk, get, post } from "../testing/context.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await createDesk();
});
afterAll(() => desk.end());

const accepted = { kind: "accepted", provider: "ses", providerMessageId: "0100-a" } as const;
const refused = { kind: "refused", reason: "InvalidAddress: address has a space" } as const;
const unknown = { kind: "unknown", reason: "ECONNRESET: no answer, the request was written" } as const;

type Fate = Parameters<typeof deliverAs>[2];

/** A notification that came to this; without a fate it is pending. */
async function owed(fate?: Fate): Promise<string> {
  const shipment = await registerShipment(desk.db);
  await happen(desk.db, shipment, "picked_up");
  const [id = ""] = await idsOf(desk, shipment);
  if (fate) await deliverAs(desk, id, fate);
  return id;
}

/** An unknown one that a person must decide. */
async function held(): Promise<string> {
  const id = await owed(unknown);
  await desk.db.sql`UPDATE owed.notification SET owed_at = NULL, stopped_at = now() WHERE id = ${id}`;
  return id;
}

const stateOf = async (id: string) => {
  const [row] = await desk.db.sql<{ state: string }[]>`SELECT state FROM owed.notification WHERE id = ${id}`;
  return row?.state;
};
const triesOf = (id: string) =>
  desk.db.sql`SELECT kind, actor, reason FROM owed.attempt WHERE notification_id = ${id} ORDER BY id`;

/** What a page's forms would do. */
const offered = (text: string) =>
  [...text.matchAll(/<form method="post" action="\/notified\/[^/"]+\/(\w+)"/g)].map(([, name]) => name);

test("a notification's page: its history, what it is now, its rule, and an address that is masked", async () => {
  const id = await owed(refused);
  await post(desk.app, `/notified/${id}/replay`, { why: "corrected" });
  await deliverAs(desk, id, accepted);
  const { status, text } = await get(desk.app, `/notified/${id.toUpperCase()}`);
  expect(status).toBe(200);
  for (const line of [
    "Now: delivered; nothing more happens to it.",
    "refused for good: dead: InvalidAddress: address has a space",
    "replayed: owed again by ada: corrected",
    "delivered: ses accepted it as 0100-a, says its reply; outcome accepted",
    "a worker took it to send it to b***@example.com (the last time)",
    "The rules as they counted when the events were recorded",
  ])
    expect(text).toContain(line);
  expect(text).not.toContain("buyer@example.com");
  expect((await get(desk.app, `/notified/${id}?full=1`)).text).toContain("buyer@example.com");
});

test.each(["0199d0c5-7a3e-7c1f-9b2e-3f6a51c20001", "S-1", "%3Cscript%3E"])(
  "there is no notification %s: 404 in a sentence",
  async (id) => {
    const { status, text } = await get(desk.app, `/notified/${id}`);
    expect(status).toBe(404);
    expect(text).toMatch(/[Tt]here is no (such )?notification/);
    expect(text).not.toContain("<script>");
  },
);

test("a bad query is refused", async () => {
  const { status, text } = await get(desk.app, `/notified/${await owed()}?full=yes`);
  expect([status, text.includes("full is 1, or is left out")]).toEqual([400, true]);
});

test.each<[string, () => Promise<string>, string[]]>([
  ["pending", () => owed(), ["cancel"]],
  ["dead", () => owed(refused), ["replay", "sent", "cancel"]],
  ["unknown and waiting for evidence", () => owed(unknown), ["resend", "sent"]],
  ["unknown and held", held, ["resend", "sent", "cancel"]],
  ["delivered", () => owed(accepted), ["again"]],
])("what can be done with one that is %s", async (_state, arrange, names) => {
  const { text } = await get(desk.app, `/notified/${await arrange()}`);
  expect(offered(text)).toEqual(names);
});

test("nothing can be done with one that a worker has", async () => {
  const id = await owed();
  await claim(desk.db.ledger, defaultDurations, [
    { id, generation: 0, messageId: "m-1", sentAt: Date.now() },
  ]);
  const { text } = await get(desk.app, `/notified/${id}`);
  expect(offered(text)).toEqual([]);
  expect(text).toContain("in this state the ledger needs no help");
});

test.each<[string, () => Promise<string>, string, string[]]>([
  ["replay", () => owed(refused), "pending", ["refused", "replayed"]],
  ["resend", held, "pending", ["unknown", "replayed", "resent"]],
  ["sent", held, "delivered", ["unknown", "resolved"]],
  ["cancel", () => owed(), "cancelled", ["cancelled"]],
])("%s: done, and recorded with who and why", async (name, arrange, state, kinds) => {
  const id = await arrange();
  const { status, to, said } = await post(desk.app, `/notified/${id}/${name}`, { why: "it was asked for" });
  expect(status).toBe(303);
  expect(to.startsWith(`/notified/${id}?said=`)).toBe(true);
  expect(await stateOf(id)).toBe(state);
  const tries = await triesOf(id);
  expect(tries.map(({ kind }) => kind).toSorted()).toEqual(kinds.toSorted());
  expect(tries).toContainEqual(expect.objectContaining({ actor: "ada", reason: "it was asked for" }));
  const page = await get(desk.app, to);
  expect(page.text).toContain(`<p class="notice" role="status">${said}</p>`);
  expect(page.text).toContain("ada: it was asked for");
});

test("again: a delivered one stays so, and a new one names it", async () => {
  const id = await owed(accepted);
  const { status, to } = await post(desk.app, `/notified/${id}/again`, { why: "she deleted it" });
  expect(status).toBe(303);
  const anew = to.slice("/notified/".length, to.indexOf("?"));
  expect(anew).not.toBe(id);
  expect(await stateOf(id)).toBe("delivered");
  expect(await stateOf(anew)).toBe("pending");
  expect(await triesOf(anew)).toEqual([{ kind: "replayed", actor: "ada", reason: "she deleted it" }]);
  expect((await get(desk.app, to)).text).toContain(`<a href="/notified/${id}">${id}</a>`);
});

const names = ["replay", "resend", "sent", "cancel", "again"];

test.each(names)(
  "%s: refused without the token, without a reason, and to whoever only looks",
  async (name) => {
    const id = await owed(name === "again" ? accepted : refused);
    const before = [await stateOf(id), await triesOf(id)];
    const path = `/notified/${id}/${name}`;
    const why = "it was asked for";
    expect((await post(desk.app, path, { why, token: null })).status).toBe(403);
    expect((await post(desk.app, path, { why, token: "another" })).status).toBe(403);
    expect((await post(desk.app, path, { why: " " })).status).toBe(400);
    const readOnly = createApp({ ...desk.context, writer: null });
    expect((await post(readOnly, path, { why })).status).toBe(403);
    const { text } = await get(readOnly, `/notified/${id}`);
    expect(offered(text)).toEqual([]);
    expect(text).toContain("This console only looks");
    expect([await stateOf(id), await triesOf(id)]).toEqual(before);
  },
);

test.each(names)("%s: a state that does not allow it is a conflict, in a sentence", async (name) => {
  const id = await owed(name === "again" ? refused : accepted);
  const { status, text } = await post(desk.app, `/notified/${id}/${name}`, { why: "it was asked for" });
  expect(status).toBe(409);
  expect(text).toMatch(/<p role="alert">notification \S+ is (delivered|dead) and /);
  const nobody = `/notified/0199d0c5-7a3e-7c1f-9b2e-3f6a51c20001/${name}`;
  expect((await post(desk.app, nobody, { why: "it was asked for" })).status).toBe(404);
});
