import { listActs } from "@owed/ledger";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { empty, newRow, readRow } from "../../../ledger/src/testing/rows.ts";
import { createApp } from "../app.ts";
import { createDesk, type Desk, get, post } from "../testing/context.ts";
import { endOf, read } from "./testing.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await createDesk();
});
afterAll(() => desk.end());
beforeEach(() => empty(desk.db));

test("the notification queue: what it holds, what would happen, SQS's redrive to its end, with who and why", async () => {
  const [id, expired] = [
    await newRow(desk.db, "dead"),
    await newRow(desk.db, "dead", {
      due_at: "now() - interval '2 hours'",
      send_by: "now() - interval '1 hour'",
    }),
  ];
  for (const row of [id, expired])
    await desk.sqs.send(desk.queues.notification.deadLetters.url, {
      MessageBody: JSON.stringify({ id: row, generation: 0 }),
      MessageGroupId: row,
      MessageDeduplicationId: row,
    });
  expect(read(await get(desk.app, "/dead"))).toMatch(/notification 2 none is known/);
  const page = read(await get(desk.app, "/dead/queue/notification"));
  expect(page).toContain("It holds about 2 messages. SQS's last redrive: none is known.");
  expect(page).toContain("2 dead notifications may have a message there.");
  expect(page).toMatch(/would be cancelled .* it has expired 1 /);
  const { status, to } = await post(desk.app, "/dead/queue/notification", { why: "the provider is back" });
  expect(status).toBe(303);
  const ended = read(await endOf(desk.app, to));
  expect(ended).toContain("SQS's redrive: completed, moved 2 of 2.");
  expect(ended).toContain("Noted with 2 dead notifications who did this and why");
  expect(await desk.sqs.receive(desk.queues.notification.url)).toHaveLength(2);
  expect((await readRow(desk.db, id)).state).toBe("dead");
  const [attempt] = await desk.db.sql`SELECT actor, reason FROM owed.attempt WHERE notification_id = ${id}`;
  expect({ ...attempt }).toEqual({
    actor: "ada",
    reason: expect.stringContaining("the provider is back (by way of SQS"),
  });
  expect(read(await get(desk.app, "/dead/queue/notification"))).toMatch(
    /It holds about 0 messages\. SQS's last redrive: completed, moved 2 of 2, begun 20\d\d-/,
  );
});

test.each(["event", "feedback"] as const)(
  "the %s queue: the same, and the ledger keeps who and why",
  async (name) => {
    await desk.sqs.send(desk.queues[name].deadLetters.url, { MessageBody: "{}" });
    const page = await get(desk.app, `/dead/queue/${name}`);
    expect(read(page)).toContain("It holds about 1 message.");
    const { to } = await post(desk.app, `/dead/queue/${name}`, { why: "the ledger is back" });
    expect(read(await endOf(desk.app, to))).toMatch(/completed, moved 1 of 1.*Why the ledger is back/);
    const subject = `the dead-letter queue of the ${name} queue`;
    expect(await listActs(desk.db.ledger, 1)).toMatchObject([
      { actor: "ada", did: "redrove", subject, why: "the ledger is back" },
    ]);
    expect(await desk.sqs.receive(desk.queues[name].url)).toHaveLength(1);
  },
);

test("SQS refuses: the outcome says why; a queue that there is not is missing", async () => {
  const { notification } = desk.queues;
  const { deadLetters } = notification;
  desk.queues.notification = {
    ...notification,
    deadLetters: { ...deadLetters, arn: `${deadLetters.arn}-gone` },
  };
  const { to } = await post(desk.app, "/dead/queue/notification", { why: "x" });
  const { text } = await endOf(desk.app, to);
  desk.queues.notification = notification;
  expect(text).toContain('<p role="alert">It stopped: ');
  expect((await get(desk.app, "/dead/queue/nowhere")).status).toBe(404);
});

test("refused: without the token, without a reason, in a console that only looks", async () => {
  const looking = createApp({ ...desk.context, writer: null });
  for (const name of ["notification", "event"] as const) {
    const { url } = desk.queues[name].deadLetters;
    await desk.sqs.send(url, {
      MessageBody: "{}",
      ...(name === "notification" ? { MessageGroupId: "g", MessageDeduplicationId: "d" } : {}),
    });
    expect((await post(desk.app, `/dead/queue/${name}`, { why: "x", token: null })).status).toBe(403);
    expect((await post(looking, `/dead/queue/${name}`, { why: "x" })).status).toBe(403);
    const { text } = await get(looking, `/dead/queue/${name}`);
    expect(text).toContain("This console only looks");
    expect(text).not.toContain("<form");
    expect(await desk.sqs.receive(url)).toHaveLength(1);
  }
  expect((await post(desk.app, "/dead/queue/notification")).status).toBe(400);
});
