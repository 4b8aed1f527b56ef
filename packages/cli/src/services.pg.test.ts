import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { environmentOf } from "../../local/src/environment.ts";
import { connect } from "./services.ts";
import { createWorld, runCli, type World } from "./testing.ts";

// SST's Resource reads the environment once, when it is first asked: all in one file.
let world: World;
beforeAll(async () => {
  world = await createWorld();
  const { host, port, database, user, password } = world.db.options;
  if (typeof password !== "string") throw new Error("the test cluster has a password");
  const nothing = async () => {};
  const postgres = { host, port, database, user, password, pid: 0, stop: nothing, kill: nothing };
  const { sqs, queues } = world;
  const ses = { endpoint: "http://127.0.0.1:1" };
  const environment = Reflect.apply(environmentOf, null, [{ postgres, sqs, ses, queues, settings: {} }]);
  for (const [name, value] of Object.entries<string>(environment)) vi.stubEnv(name, value);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await world.end();
});

test("what the local stack leaves is all that the commands need", async () => {
  for (const argv of [
    ["status"],
    ["sweep"],
    ["redrive", "--dry-run"],
    ["redrive", "--queue", "event", "--dry-run"],
    ["redrive", "--queue", "feedback"],
    ["refused", "--retry", "--all", "--queue", "event"],
  ])
    expect([argv, await runCli(argv)]).toMatchObject([argv, { code: 0, err: "" }]);
});

test.each([
  ["reads", "owed_reader"],
  ["writes", "owed_operator"],
] as const)("a command that %s has the rights of %s", async (kind, role) => {
  const { ledger, close } = await connect(kind);
  expect(await ledger.run((sql) => sql`SELECT current_user AS role`, { repeatable: true })).toEqual([
    { role },
  ]);
  await close();
});
