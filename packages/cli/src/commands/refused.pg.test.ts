import { keepRefusedEvent, listActs, listRefusedBodies } from "@owed/ledger";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createWorld, type World } from "../testing.ts";

let world: World;
let kept = 0;
beforeAll(async () => {
  world = await createWorld();
});
afterEach(async () => {
  await world.db.sql`DELETE FROM owed.refused_event`;
});
afterAll(() => world.end());

/** Keeps a refused event; returns its id. */
async function keep(queue: "event" | "feedback", body: string): Promise<string> {
  kept += 1;
  const refusal = { messageId: `m-${kept}`, field: "shipment_id", reason: "is not a known shipment" };
  await keepRefusedEvent(world.db.ledger, { ...refusal, queue, body });
  const [row] = await world.db.sql<{ id: string }[]>`SELECT max(id) AS id FROM owed.refused_event`;
  return row?.id ?? "";
}

/** The bodies in a queue, which are removed from it. */
async function drain(queue: "event" | "feedback"): Promise<string[]> {
  const { url } = world.queues[queue];
  const bodies: string[] = [];
  for (let some = await world.sqs.receive(url); some.length > 0; some = await world.sqs.receive(url))
    for (const message of some) {
      bodies.push(message.Body ?? "");
      await world.sqs.remove(url, message);
    }
  return bodies.toSorted();
}

test("given back as it is to the queue it came by, once, unless it is asked for again", async () => {
  const event = await keep("event", '{"detail": "Zoë\\n"}');
  const feedback = await keep("feedback", '{"source": "aws.ses"}');
  const retry = ["refused", "--retry", event, feedback];
  const { code, value } = await world.json(...retry, "--actor", "ana", "--why", "it is registered");
  expect(await listActs(world.db.ledger, 1)).toMatchObject([
    { actor: "ana", did: "gave_back", subject: "2 refused events", why: "it is registered" },
  ]);
  expect([code, value]).toMatchObject([0, { refused: [], actor: "ana" }]);
  expect(value.retried).toEqual(expect.arrayContaining([event, feedback]));
  expect([await drain("event"), await drain("feedback")]).toEqual([
    ['{"detail": "Zoë\\n"}'],
    ['{"source": "aws.ses"}'],
  ]);
  expect((await world.json("refused")).value.refused).toMatchObject([
    { id: feedback, queue: "feedback", retriedBy: "ana", retriedAt: expect.stringMatching(/Z$/) },
    { id: event, queue: "event", retriedBy: "ana" },
  ]);
  expect((await world.owed("refused")).out).toMatch(
    new RegExp(
      `^\\S+Z {2}${event} {2}event {2}shipment_id is .* \\(\\d+ bytes; given back \\S+Z by ana\\)$`,
      "m",
    ),
  );

  const again = await world.owed(...retry);
  expect(again.code).toBe(3);
  expect(again.out).toMatch(
    new RegExp(
      `^0 refused events given back: .*\nnot ${event}: it was given back \\S+Z by ana: --again does`,
    ),
  );
  expect(await drain("event")).toEqual([]);
  expect((await world.json(...retry, "--again")).code).toBe(0);
  expect([await drain("event"), await drain("feedback")]).toEqual([
    [expect.any(String)],
    [expect.any(String)],
  ]);
});

test("all of a queue that were not given back yet, and none of the other's", async () => {
  for (let place = 0; place < 23; place += 1) await keep("event", `{"place": ${place}}`);
  await keep("feedback", "{}");
  const before = await keep("event", "{}");
  await world.owed("refused", "--retry", before);
  await drain("event");
  const all = ["refused", "--retry", "--all", "--queue", "event"];
  const { code, value } = await world.json(...all);
  expect([code, value.refused]).toEqual([0, []]);
  expect(value.retried).toHaveLength(23);
  expect(await drain("event")).toHaveLength(23);
  expect(await drain("feedback")).toEqual([]);
  expect((await world.json(...all)).value).toMatchObject({ retried: [], refused: [] });
  expect((await world.json(...all, "--again")).value.retried).toHaveLength(24);
  await drain("event");
});

test("what is refused once more meanwhile is not given back in the same go", async () => {
  const newest = await keep("event", "{}");
  await keep("event", "{}");
  const choice = { queue: "event", again: false, newest } as const;
  const bodies = await listRefusedBodies(world.db.ledger, choice, { after: "0", limit: 10 });
  expect(bodies.map(({ id }) => id)).toEqual([newest]);
});

test("what was not kept whole, and what there is not, is named and holds back no other", async () => {
  const large = await keep("event", "x".repeat(64 * 1024 + 1));
  const whole = await keep("event", "x".repeat(64 * 1024));
  const { code, value } = await world.json("refused", "--retry", "999999", large, whole);
  expect([code, value]).toMatchObject([
    3,
    {
      retried: [whole],
      refused: [
        { id: large, why: expect.stringContaining("65537 bytes and only the first 65536 were kept") },
        { id: "999999", why: "there is no such refused event" },
      ],
    },
  ]);
  expect((await drain("event")).map((body) => body.length)).toEqual([64 * 1024]);
});

test("what SQS did not take is not kept as given back", async () => {
  const id = await keep("event", "{}");
  const { event } = world.queues;
  world.queues.event = { ...event, url: `${event.url}-gone` };
  const { code, value } = await world.json("refused", "--retry", id);
  world.queues.event = event;
  expect([code, value]).toMatchObject([
    1,
    { retried: [], refused: [{ id, why: expect.stringMatching(/^SQS did not take it \(/) }] },
  ]);
  expect((await world.json("refused", "--retry", id)).value).toMatchObject({ retried: [id] });
  expect(await drain("event")).toEqual(["{}"]);
});
