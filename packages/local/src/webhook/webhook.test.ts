import { request as httpsRequest } from "node:https";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type LocalWebhooks, startWebhooks } from "./index.ts";

const secretOf = (merchant: string) => `whsec_${Buffer.from(merchant.padEnd(32)).toString("base64")}`;

let inboxes: LocalWebhooks;
beforeAll(async () => {
  inboxes = await startWebhooks({ secretOf, keep: 20 });
});
afterEach(() => {
  inboxes.faults.clear();
  inboxes.clear();
});
afterAll(() => inboxes.stop());

const signed = (merchant: string, id: string, body: string, at = new Date()) => ({
  "webhook-id": id,
  "webhook-timestamp": `${Math.floor(at.getTime() / 1000)}`,
  "webhook-signature": new Webhook(secretOf(merchant)).sign(id, at, body),
});

type Answer = { status: number | undefined; headers: object; body: string };

/** Posts a webhook that is signed by the merchant, or with what is given. */
async function post(
  merchant: string,
  id: string,
  {
    body = "{}",
    headers = signed(merchant, id, body) as object,
    url = inboxes.addressOf(merchant),
    method = "POST",
  } = {},
): Promise<Answer> {
  const answered = Promise.withResolvers<Answer>();
  const options = { method, ca: inboxes.authority, agent: false, headers: { ...headers } };
  const request = httpsRequest(url, options, (response) => {
    text(response).then(
      (all) => answered.resolve({ status: response.statusCode, headers: response.headers, body: all }),
      answered.reject,
    );
  });
  request.on("error", answered.reject);
  request.end(body);
  return answered.promise;
}

test("a merchant's inbox takes what is signed with its secret, and keeps it", async () => {
  expect(await post("shop:7", "n-1", { body: '{"a":1}' })).toMatchObject({ status: 200, body: "" });
  expect(await post("shop:7", "n-1")).toMatchObject({ status: 200 });
  expect(await post("shop:8", "n-1")).toMatchObject({ status: 200 });
  expect(inboxes.received).toMatchObject([
    {
      merchant: "shop:7",
      id: "n-1",
      body: '{"a":1}',
      payload: { a: 1 },
      verified: true,
      problem: "",
      repeats: 0,
    },
    { merchant: "shop:7", id: "n-1", repeats: 1 },
    { merchant: "shop:8", id: "n-1", repeats: 0 },
  ]);
  expect([
    inboxes.times("shop:7", "n-1"),
    inboxes.times("shop:8", "n-1"),
    inboxes.times("shop:8", "n-2"),
  ]).toEqual([2, 1, 0]);
});

test.for([
  ["of another merchant", signed("shop-8", "n-1", "{}"), "No matching signature found"],
  ["of another body", signed("shop-7", "n-1", "[]"), "No matching signature found"],
  [
    "of yesterday",
    signed("shop-7", "n-1", "{}", new Date(Date.now() - 86_400_000)),
    "Message timestamp too old",
  ],
  ["that is missing", {}, "Missing required headers"],
] as const)("a signature %s is not taken: 401", async ([, headers, problem]) => {
  const problems: string[] = [];
  inboxes.faults.add((webhook) => void problems.push(webhook.problem));
  expect(await post("shop-7", "n-1", { headers })).toMatchObject({ status: 401 });
  expect(problems).toEqual([problem]);
  expect(inboxes.received).toEqual([]);
});

test("there is nothing but inboxes, and they are posted to", async () => {
  for (const path of ["/", "/a/b", "/%", "/shop-7?a=1"])
    expect(await post("shop-7", "n-1", { url: `${inboxes.endpoint}${path}` }), path).toMatchObject({
      status: 404,
    });
  expect(await post("shop-7", "n-1", { method: "PUT" })).toMatchObject({ status: 404 });
});

test("a fault answers otherwise, and keeps what is answered with 2xx", async () => {
  const headers = { "retry-after": "120" };
  inboxes.faults.add(({ id }) => (id === "n-1" ? { status: 503, headers } : { status: 204, delay: 1 }));
  expect(await post("shop-7", "n-1")).toMatchObject({ status: 503, headers });
  expect(await post("shop-7", "n-2")).toMatchObject({ status: 204 });
  expect(inboxes.received.map(({ id }) => id)).toEqual(["n-2"]);
});

test("a fault drops the connection, before the webhook is kept or after", async () => {
  inboxes.faults.add(({ id }) => ({ drop: id === "n-1" ? "before" : "after" }));
  for (const id of ["n-1", "n-2"])
    await expect(post("shop-7", id)).rejects.toMatchObject({ code: "ECONNRESET" });
  expect(inboxes.received.map(({ id }) => id)).toEqual(["n-2"]);
});

test("a fault holds the answer back; what is held for ever ends when the inboxes stop", async () => {
  const own = await startWebhooks({ secretOf });
  const released = Promise.withResolvers<void>();
  inboxes.faults.add(() => ({ hold: released.promise }));
  own.faults.add(() => ({ hold: new Promise(() => {}) }));
  const held = post("shop-7", "n-1");
  await expect.poll(() => inboxes.received.length, { interval: 5 }).toBe(1);
  released.resolve();
  expect(await held).toMatchObject({ status: 200 });
  await own.stop();
});

test("only so many are kept, with their repeats", async () => {
  for (let number = 0; number < 23; number += 1) await post("shop-7", `n-${number}`);
  expect(inboxes.received.map(({ id }) => id)).toEqual(
    Array.from({ length: 20 }, (_, index) => `n-${index + 3}`),
  );
  expect([inboxes.times("shop-7", "n-0"), inboxes.times("shop-7", "n-3")]).toEqual([0, 1]);
});
