import { listActs, readStatus } from "@owed/ledger";
import { afterAll, beforeAll, expect, test } from "vitest";
import { happen, registerShipment } from "../../../../tests/support/shipment.ts";
import { createWorld, deliverAs, idsOf, type World } from "../testing.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.end());

const refusedOutcome = { kind: "refused", reason: "InvalidAddress: address has a space" } as const;
const unknownOutcome = { kind: "unknown", reason: "ECONNRESET: no answer, the request was written" } as const;

async function owedRow(): Promise<string> {
  const shipment = await registerShipment(world.db);
  await happen(world.db, shipment, "picked_up");
  const [id = ""] = await idsOf(world, shipment);
  return id;
}

/** A row as its command left it: its state, and the last entry of its history. */
async function left(id: string) {
  const [row] = await world.db.sql`
    SELECT n.state, n.generation, a.kind, a.actor, a.reason FROM owed.notification n
    LEFT JOIN LATERAL (SELECT * FROM owed.attempt WHERE notification_id = n.id ORDER BY id DESC LIMIT 1) a ON true
    WHERE n.id = ${id}`;
  return { ...row };
}

test("event: recorded with its notifications, repeated for nothing, refused with the reason", async () => {
  const shipment = await registerShipment(world.db, ["buyer", "merchant"]);
  const event = [
    "event",
    "--shipment",
    shipment,
    "--status",
    "delivered",
    "--at",
    "2026-03-29T09:30:00+02:00",
  ];
  expect((await world.json(...event, "--id", "E-1")).value).toMatchObject({
    outcome: "recorded",
    notifications: 2,
  });
  expect((await world.json(...event, "--id", "E-1")).value).toMatchObject({
    outcome: "repeated",
    notifications: 0,
  });
  const other = await world.json("event", "--shipment", shipment, "--status", "returned", "--id", "E-1");
  expect(other.value).toEqual({
    error: {
      kind: "refused",
      message: "the event is refused: its id is already taken by an event with other content",
    },
  });
  const made = await world.owed("event", "--shipment", shipment, "--status", "returned");
  expect(made.out).toMatch(/^Recorded event cli-[0-9a-f-]{36}: 1 notification\. /);
  for (const [argv, code] of [
    [["--shipment", "nowhere", "--status", "delivered"], 3],
    [["--shipment", shipment, "--status", "lost"], 3],
    [["--shipment", shipment, "--status", "delivered", "--id", "no spaces"], 3],
    [["--shipment", shipment, "--status", "delivered", "--at", "2099-01-01T00:00:00Z"], 3],
    [["--shipment", shipment, "--status", "delivered", "--at", "2026-02-30T00:00:00Z"], 2],
    [["--shipment", shipment, "--status", "delivered", "--at", "2026-02-03T00:00:00+25:00"], 2],
  ] as const)
    expect([argv, (await world.owed("event", ...argv)).code]).toEqual([argv, code]);
});

test("pause and resume: once each, and a sweep in between is not allowed", async () => {
  expect((await world.json("pause", "--actor", "ana")).value).toMatchObject({
    changed: true,
    paused: { by: "ana", why: null },
  });
  expect((await world.owed("pause", "--actor", "bea")).out).toMatch(
    /^The sweeps were paused already by ana since /,
  );
  const { code, value } = await world.json("sweep");
  expect([code, value]).toMatchObject([3, { error: { kind: "not_allowed" } }]);
  const over = ["--actor", "bea", "resume", "--why", "it is over"];
  expect((await world.json(...over)).value).toEqual({ changed: true, paused: null });
  expect(await listActs(world.db.ledger, 1)).toMatchObject([
    { actor: "bea", did: "resumed", subject: "sweeps", why: "it is over" },
  ]);
  expect((await world.json("resume")).value).toEqual({ changed: false, paused: null });
  expect((await readStatus(world.db.ledger)).paused).toBeNull();
});

test("sweep: publishes what is owed, and says when SQS refuses it", async () => {
  const id = await owedRow();
  const { code, value } = await world.json("sweep");
  expect([code, value]).toMatchObject([0, { swept: true, failed: 0, owed: 0 }]);
  expect((await left(id)).state).toBe("queued");
  const bodies = (await world.sqs.receive(world.queues.notification.url)).map(({ Body = "" }) =>
    JSON.parse(Body),
  );
  expect(bodies).toContainEqual({ id, generation: 0 });

  const next = await owedRow();
  const { notification } = world.queues;
  world.queues.notification = { ...notification, url: `${notification.url}-gone` };
  const refused = await world.owed("sweep");
  world.queues.notification = notification;
  expect([refused.code, refused.out]).toEqual([1, expect.stringContaining("1 failed")]);
  expect(refused.out).toContain("SQS refused some (");
  expect((await left(next)).state).toBe("pending");
});

test("replay: dead and unknown rows are owed again, with who and why", async () => {
  const dead = await owedRow();
  await deliverAs(world, dead, refusedOutcome);
  const { code, value } = await world.json("replay", dead, "--why", "corrected", "--actor", "ana");
  expect([code, value]).toEqual([0, { id: dead, state: "pending", actor: "ana", why: "corrected" }]);
  expect(await left(dead)).toEqual({
    state: "pending",
    generation: 1,
    kind: "replayed",
    actor: "ana",
    reason: "corrected",
  });
  const unknown = await owedRow();
  await deliverAs(world, unknown, unknownOutcome);
  expect((await world.owed("replay", unknown, "--why", "x")).code).toBe(0);
  expect(await left(unknown)).toMatchObject({ state: "pending", kind: "resent" });
});

test("replay: what is not dead or unknown is refused, and told what can be done", async () => {
  const id = await owedRow();
  const refusal = async (...argv: string[]) => {
    const { code, value } = await world.json("replay", id, "--why", "x", ...argv);
    expect(code).toBe(3);
    return (value.error as { message: string }).message;
  };
  expect(await refusal()).toContain("is pending: it is owed already");
  expect(await refusal("--as-new")).toContain("only a delivered one is");
  await deliverAs(world, id, { kind: "accepted", provider: "ses", providerMessageId: "0100-b" });
  expect(await refusal()).toContain("owe a new one with --as-new");
  const before = await left(id);
  const { code, value } = await world.json(
    "replay",
    id,
    "--as-new",
    "--why",
    "asked for it",
    "--actor",
    "ana",
  );
  expect([code, value]).toMatchObject([0, { state: "pending", replays: id }]);
  expect(await left(String(value.id))).toMatchObject({
    state: "pending",
    kind: "replayed",
    reason: "asked for it",
  });
  expect(await left(id)).toEqual(before);
  const missing = await world.json("replay", "0199d0c5-7a3e-7c1f-9b2e-3f6a51c20001", "--why", "x");
  expect([missing.code, missing.value]).toMatchObject([3, { error: { kind: "not_found" } }]);
});

test("resolve: as sent, or to be sent again", async () => {
  const sent = await owedRow();
  await deliverAs(world, sent, unknownOutcome);
  expect(
    (await world.json("resolve", sent, "--sent", "--why", "seen", "--actor", "ana")).value,
  ).toMatchObject({ state: "delivered", evidence: "operator" });
  expect(await left(sent)).toMatchObject({
    state: "delivered",
    kind: "resolved",
    actor: "ana",
    reason: "seen",
  });
  const again = await owedRow();
  await deliverAs(world, again, unknownOutcome);
  expect((await world.owed("resolve", again, "--resend", "--why", "not there")).code).toBe(0);
  expect((await left(again)).state).toBe("pending");
  const refused = await world.owed("resolve", again, "--sent", "--why", "x");
  expect([refused.code, refused.out]).toEqual([3, ""]);
  expect(refused.err).toContain("is pending and can't be resolved as sent");
});

test("cancel: for good, and only once", async () => {
  const id = await owedRow();
  expect((await world.json("cancel", id, "--why", "withdrawn", "--actor", "ana")).value).toMatchObject({
    id,
    state: "cancelled",
  });
  expect(await left(id)).toMatchObject({
    state: "cancelled",
    kind: "cancelled",
    actor: "ana",
    reason: "withdrawn",
  });
  const again = await world.owed("cancel", id, "--why", "x");
  expect([again.code, again.err]).toEqual([
    3,
    expect.stringContaining("is cancelled and can't be cancelled"),
  ]);
});

test("a database that is away is said to be, with what to try", async () => {
  const { port } = world.db.options;
  world.db.options.port = 1;
  const { code, value } = await world.json("status");
  world.db.options.port = port;
  expect(code).toBe(1);
  expect(value).toEqual({
    error: {
      kind: "unavailable",
      message: expect.stringMatching(/does not answer .*ECONNREFUSED.*; the test says where it is$/),
    },
  });
});
