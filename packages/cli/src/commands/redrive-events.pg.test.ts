import { listActs } from "@owed/ledger";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createWorld, type World } from "../testing.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.end());

test.each(["event", "feedback"] as const)(
  "the %s queue's dead letters come back by SQS's own redrive",
  async (name) => {
    const { url, deadLetters: queue } = world.queues[name];
    const body = JSON.stringify({ dead: name });
    await world.sqs.send(queue.url, { MessageBody: body });
    const preview = await world.json("redrive", "--queue", name, "--dry-run");
    expect(preview.value).toEqual({ by: "queue", queue: name, dryRun: true, messages: 1 });
    const { code, value } = await world.json(
      "--actor",
      "ana",
      "redrive",
      "--queue",
      name,
      "--why",
      "it is back",
    );
    expect([code, value]).toMatchObject([0, { by: "queue", queue: name, status: "COMPLETED", moved: 1 }]);
    expect(await listActs(world.db.ledger, 1)).toMatchObject([
      {
        actor: "ana",
        did: "redrove",
        subject: `the dead-letter queue of the ${name} queue`,
        why: "it is back",
      },
    ]);
    const back = await world.sqs.receive(url);
    expect(back.map(({ Body }) => Body)).toEqual([body]);
    for (const message of back) await world.sqs.remove(url, message);
  },
);
