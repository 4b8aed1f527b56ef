import { replay } from "@owed/ledger";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { owe } from "../../../../tests/support/shipment.ts";
import { empty, newRow, readRow, reshape } from "../../../ledger/src/testing/rows.ts";
import { createApp } from "../app.ts";
import { createDesk, type Desk, get, post } from "../testing/context.ts";
import { endOf, read } from "./testing.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await createDesk();
});
afterAll(() => desk.end());
beforeEach(() => empty(desk.db));

const hostile = `Odd: <script>alert("x")</script> 'q'`;

const dead = (reason: string) => newRow(desk.db, "dead", { reason: `'${reason.replaceAll("'", "''")}'` });
const state = async (id: string) => (await readRow(desk.db, id)).state;
const lastTry = async (id: string) => {
  const [row] = await desk.db.sql`
    SELECT kind, actor, reason FROM owed.attempt WHERE notification_id = ${id} ORDER BY id DESC LIMIT 1`;
  return { ...row };
};

/** A message about a row in the dead-letter queue. */
const letter = (id: string) =>
  desk.sqs.send(desk.queues.notification.deadLetters.url, {
    MessageBody: JSON.stringify({ id, generation: 0 }),
    MessageGroupId: id,
    MessageDeduplicationId: id,
  });

test("an empty ledger: nothing waits, and every page of it says so", async () => {
  expect(read(await get(desk.app, "/dead"))).toContain("Nothing waits for a person.");
  expect(read(await get(desk.app, "/dead?reason=lost"))).toMatch(
    /0 are dead whose reason begins with “lost”.*Nothing dead fits/,
  );
  expect(read(await get(desk.app, "/dead/unknown"))).toContain("No notification waits");
  const all = await post(desk.app, "/dead/try", { all: "yes" });
  expect(read(all)).toContain("0 notifications would be owed again, 0 would be left");
  expect(all.text).not.toContain('action="/dead/redrive"');
});

test("grouped by reason, with how many, since when, and what to do; whatever a reason is, it is text", async () => {
  const first = await dead("ServiceUnavailable: try later");
  await dead("ServiceUnavailable: try later");
  await dead("no_address: the recipient has none");
  await dead(hostile);
  const held = await newRow(desk.db, "held");
  const { status, text } = await get(desk.app, "/dead");
  expect(status).toBe(200);
  expect(read({ text })).toContain("5 notifications wait for a person: 4 dead, 1 of unknown outcome.");
  expect(text).toContain(
    '<a href="/dead?channel=email&amp;reason=ServiceUnavailable">ServiceUnavailable</a>',
  );
  expect(text).toContain("when it answers again, redrive");
  expect(text).toContain("correct the subscriber&#39;s address");
  expect(text).toContain('<a href="/dead/unknown?channel=email">no_answer</a>');
  const [{ stopped = "" } = {}] = await desk.db.sql<{ stopped?: string }[]>`
    SELECT to_char(stopped_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"') AS stopped FROM owed.notification WHERE id = ${first}`;
  expect(text).toContain(stopped);

  const group = await get(desk.app, "/dead?channel=email&reason=ServiceUnavailable");
  expect(read(group)).toContain("2 are dead by email, whose reason begins with “ServiceUnavailable”.");
  expect(group.text).toContain(`<a href="/notified/${first}">${first}</a>`);
  expect(group.text).not.toContain(held);
  const odd = await get(desk.app, `/dead?reason=${encodeURIComponent(hostile)}`);
  expect(read(odd)).toContain("1 is dead");
  for (const page of [odd.text, (await get(desk.app, "/dead?reason=Odd")).text]) {
    expect(page).not.toContain("<script>alert");
    expect(page).toContain("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;");
  }
});

test("a hundred rows at most, and how many more", async () => {
  for (let place = 0; place < 103; place += 1) await dead("lost");
  const { text } = await get(desk.app, "/dead?reason=lost");
  expect(text.match(/name="id"/g)).toHaveLength(100);
  expect(text).toContain("and 3 more");
  expect(read(await get(desk.app, "/dead?reason=lost&shipment=nowhere"))).toContain("0 are dead");
});

test("a bad query is told in a sentence", async () => {
  for (const [path, sentence] of [
    [`/dead?reason=${"x".repeat(2001)}`, "The reason has more than 2,000 characters"],
    ["/dead?shipment=%00", "The shipment has a character"],
    ["/dead/unknown?channel=%00", "The channel has a character"],
  ] as const) {
    const answer = await get(desk.app, path);
    expect([answer.status, read(answer)]).toEqual([400, expect.stringContaining(sentence)]);
  }
});

test("some: a dry run first, then done with who and why, and the messages are gone", async () => {
  const [one, other, untrue] = [
    await dead("ServiceUnavailable: x"),
    await dead("ServiceUnavailable: x"),
    await dead("ServiceUnavailable: x"),
  ];
  await reshape(desk.db, untrue, "dead", {
    send_by: "now() - interval '1 hour'",
    due_at: "now() - interval '2 hours'",
  });
  await letter(one);
  const tried = await post(desk.app, "/dead/try", { id: [one, untrue] });
  expect(tried.status).toBe(200);
  expect(read(tried)).toMatch(
    /Of 2 chosen notifications: 1 notification would be owed again, 1 would be left\. Nothing has been changed\./,
  );
  expect(read(tried)).toContain("it has expired");
  expect([await state(one), await state(untrue)]).toEqual(["dead", "dead"]);

  const { status, to, said } = await post(desk.app, "/dead/redrive", {
    id: [one, untrue],
    why: "the provider is back",
    foreseen: "1",
  });
  expect([status, said]).toEqual([303, "Redrive of 2 chosen notifications has begun."]);
  const ended = read(await endOf(desk.app, to));
  expect(ended).toContain("1 notification owed again: the next sweep publishes it. 1 left as they are.");
  expect(ended).toContain("Removed 1 message from the dead-letter queue.");
  expect(ended).toMatch(/Who ada.*Why the provider is back/);
  expect(ended).toContain(`${untrue} it has expired`);
  expect([await state(one), await state(other), await state(untrue)]).toEqual(["pending", "dead", "dead"]);
  expect(await lastTry(one)).toEqual({ kind: "redriven", actor: "ada", reason: "the provider is back" });
  expect(await desk.sqs.receive(desk.queues.notification.deadLetters.url)).toEqual([]);
  expect(read(await get(desk.app, "/dead"))).toMatch(
    /Redrive of 2 chosen notifications ada the provider is back done/,
  );
});

test("a group that changes between the dry run and the doing: what is done is said", async () => {
  const rows = [await dead("lost: x"), await dead("lost: x")];
  expect(read(await post(desk.app, "/dead/try", { all: "yes", reason: "lost" }))).toContain(
    "2 notifications would be owed again",
  );
  rows.push(await dead("lost: x"));
  const three = await post(desk.app, "/dead/redrive", {
    all: "yes",
    reason: "lost",
    foreseen: "2",
    why: "x",
  });
  expect(read(await endOf(desk.app, three.to))).toMatch(
    /3 notifications owed again.*The dry run foresaw 2: more have died since/,
  );
  const none = await post(desk.app, "/dead/redrive", { all: "yes", reason: "lost", foreseen: "2", why: "x" });
  expect(read(await endOf(desk.app, none.to))).toMatch(
    /0 notifications owed again.*The dry run foresaw 2: the others were redriven by somebody else/,
  );
  for (const id of rows) expect(await state(id)).toBe("pending");
});

test("two people at once: each row once, and the second is told", async () => {
  const rows = await Promise.all(Array.from({ length: 20 }, () => dead("lost: x")));
  const bea = createApp({ ...desk.context, actor: "bea" });
  const begun = await Promise.all(
    [desk.app, bea].map((app) => post(app, "/dead/redrive", { id: rows, foreseen: "20", why: "x" })),
  );
  const [first, second] = [
    await endOf(desk.app, begun[0]?.to ?? ""),
    await endOf(bea, begun[1]?.to ?? ""),
  ].map(read);
  const done = (text = "") => Number(/(\d+) notifications? owed again/.exec(text)?.[1]);
  expect(done(first) + done(second)).toBe(20);
  const [count] = await desk.db.sql`SELECT count(*)::int AS n FROM owed.attempt WHERE kind = 'redriven'`;
  expect(count?.n).toBe(20);
  for (const id of rows) expect((await readRow(desk.db, id)).generation).toBe(1);

  const late = await post(bea, "/dead/redrive", { id: rows.slice(0, 1), why: "x" });
  expect(read(await endOf(bea, late.to))).toMatch(/it is pending, not dead: (ada|bea) redrove it at \S+Z/);
});

test("more rows than one statement owes again: the page answers meanwhile, and shows how far it is", async () => {
  await owe(desk.db, 1100);
  await desk.db
    .sql`UPDATE owed.notification SET state = 'dead', owed_at = NULL, stopped_at = now(), reason = 'lost: x'`;
  // It goes on only when the page has been looked at.
  const looked = Promise.withResolvers<void>();
  const { services } = desk.context;
  const sqs = () => looked.promise.then(() => services.sqs());
  const app = createApp({ ...desk.context, services: { ...services, sqs } });
  const { to } = await post(app, "/dead/redrive", { all: "yes", why: "x" });
  const path = to.split("?")[0] ?? "";
  const going = await get(app, path);
  expect(going.text).toContain('<progress aria-labelledby="doing"');
  expect(going.text).toContain("/assets/progress.js");
  expect((await get(app, "/assets/progress.js")).status).toBe(200);
  const wrong = await get(app, `${path}/progress?after=soon`);
  expect([wrong.status, read(wrong)]).toEqual([
    400,
    expect.stringContaining("The version is a whole number."),
  ]);
  looked.resolve();
  expect(read(await endOf(app, to))).toContain("1,100 notifications owed again");
  const [left] = await desk.db.sql`SELECT count(*)::int AS n FROM owed.notification WHERE state = 'dead'`;
  expect(left?.n).toBe(0);
});

test("an error is the outcome: what was done stays, and the page says so", async () => {
  const id = await dead("lost: x");
  const broken = createApp({
    ...desk.context,
    services: { ...desk.context.services, sqs: () => Promise.reject(new Error("no way to <SQS>")) },
  });
  const { to } = await post(broken, "/dead/redrive", { id, why: "x" });
  const { text } = await endOf(broken, to);
  expect(text).toContain('<p role="alert">It stopped: no way to &lt;SQS&gt;.</p>');
  expect(await state(id)).toBe("dead");
  // The ledger's side of the overview is there without SQS.
  expect(read(await get(broken, "/dead"))).toMatch(
    /1 notification waits for a person.*SQS did not answer: no way to &lt;SQS&gt;/,
  );
});

test("refused: without the token, without a reason, in a console that only looks; unknown runs are missing", async () => {
  const id = await dead("lost: x");
  const looking = createApp({ ...desk.context, writer: null });
  expect((await post(desk.app, "/dead/redrive", { id, why: "x", token: "another" })).status).toBe(403);
  expect((await post(desk.app, "/dead/try", { id, token: null })).status).toBe(403);
  expect((await post(desk.app, "/dead/redrive", { id, why: " " })).status).toBe(400);
  expect((await post(desk.app, "/dead/redrive", { why: "x" })).text).toContain("Nothing was chosen");
  expect((await post(looking, "/dead/redrive", { id, why: "x" })).status).toBe(403);
  for (const path of ["/dead", "/dead?reason=lost"]) {
    const { text } = await get(looking, path);
    expect(text).toContain("This console only looks");
    expect(text).toContain("lost");
    expect(text).not.toContain('<form method="post"');
    expect(text).not.toContain("checkbox");
  }
  expect((await get(desk.app, "/dead/runs/999")).status).toBe(404);
  expect(await state(id)).toBe("dead");
  expect((await replay(desk.db.ledger, [id], { actor: "x", why: "x" }, "redriven")).ids).toEqual([id]);
});
