import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { startTestSms, type TestSms } from "../../../local/src/sms/testing.ts";
import { createSmsClient, type SmsClientOptions } from "./client.ts";
import { aChannel, aClient, aTextRequest } from "./fixtures.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function channelAt(endpoint: string, options: SmsClientOptions = {}, timeoutMs = 5_000) {
  const client = aClient(endpoint, options);
  cleanups.push(() => client.destroy());
  return aChannel(client, timeoutMs);
}

async function aProvider(): Promise<TestSms> {
  const sms = await startTestSms();
  cleanups.push(sms.stop);
  return sms;
}

/** A TCP server that does `each` with every connection. */
async function listening(each: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    each(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const transient = (word: string) => ({
  outcome: "transient",
  reason: `${word}: the request was not written`,
  answered: false,
});
const unknown = (word: string) => ({
  outcome: "unknown",
  reason: `${word}: no answer, the request was written`,
});

test("a socket that drops before the text was accepted: nobody knows, and it is asked once", async () => {
  const sms = await aProvider();
  const asked = vi.fn();
  sms.faults.add(() => asked() ?? { drop: "before" });
  expect(await channelAt(sms.endpoint).send(aTextRequest(), {})).toEqual(unknown("ECONNRESET"));
  expect(asked).toHaveBeenCalledOnce();
  expect(sms.sent).toEqual([]);
});

test("a socket that drops after the text was accepted: nobody knows, and one text is sent", async () => {
  const sms = await aProvider();
  sms.faults.add(() => ({ drop: "after" }));
  expect(await channelAt(sms.endpoint).send(aTextRequest(), {})).toEqual(unknown("ECONNRESET"));
  expect(sms.sent).toHaveLength(1);
});

test("a kept-alive socket that drops under its second request: nobody knows", async () => {
  const sms = await aProvider();
  const channel = channelAt(sms.endpoint);
  expect(await channel.send(aTextRequest(), {})).toMatchObject({ outcome: "accepted" });
  sms.faults.add(() => ({ drop: "before" }));
  expect(await channel.send(aTextRequest(), {})).toEqual(unknown("ECONNRESET"));
});

test("an answer that never comes: nobody knows", async () => {
  const sms = await aProvider();
  sms.faults.add(() => ({ hold: new Promise(() => {}) }));
  const channel = channelAt(sms.endpoint, { requestTimeoutMs: 50 });
  expect(await channel.send(aTextRequest(), {})).toEqual(unknown("ETIMEDOUT"));
  expect(sms.sent).toHaveLength(1);
});

test("an answer that breaks off: nobody knows", async () => {
  const port = await listening((socket) =>
    socket.once("data", () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"Message')),
  );
  const result = await channelAt(`http://127.0.0.1:${port}`).send(aTextRequest(), {});
  expect(result.outcome).toBe("unknown");
});

test("a server that is not there: certainly not sent", async () => {
  const port = await listening(() => {});
  for (const cleanup of cleanups.splice(0)) await cleanup();
  const channel = channelAt(`http://127.0.0.1:${port}`);
  expect(await channel.send(aTextRequest(), {})).toEqual(transient("ECONNREFUSED"));
});

test("a connection closed before TLS stands: certainly not sent", async () => {
  const port = await listening((socket) => socket.once("data", () => socket.destroy()));
  const channel = channelAt(`https://127.0.0.1:${port}`);
  expect(await channel.send(aTextRequest(), {})).toEqual(transient("ECONNRESET"));
});

test("a server that accepts the connection and never speaks TLS: certainly not sent", async () => {
  const port = await listening(() => {});
  const channel = channelAt(`https://127.0.0.1:${port}`, { requestTimeoutMs: 50 });
  expect(await channel.send(aTextRequest(), {})).toEqual(transient("ETIMEDOUT"));
});

test("aborted while it waits for a free socket: certainly not sent; the one that has it: nobody knows", async () => {
  const sms = await aProvider();
  sms.faults.add(() => ({ hold: new Promise(() => {}) }));
  const channel = channelAt(sms.endpoint, { maxSockets: 1 });
  const [first, second] = [new AbortController(), new AbortController()];
  const one = channel.send(aTextRequest(), { signal: first.signal });
  await vi.waitFor(() => expect(sms.sent).toHaveLength(1), { timeout: 10_000, interval: 5 });
  const two = channel.send(aTextRequest(), { signal: second.signal });
  second.abort();
  expect(await two).toEqual(transient("Aborted"));
  first.abort();
  expect(await one).toEqual(unknown("Aborted"));
  expect(sms.sent).toHaveLength(1);
});

test("credentials that fail concern every row: the account waits", async () => {
  const sms = await aProvider();
  const failure = Object.assign(new Error("no role"), { name: "CredentialsProviderError" });
  const channel = channelAt(sms.endpoint, { credentials: () => Promise.reject(failure) });
  const reason = "CredentialsProviderError: no role";
  const account = { outcome: "throttled", scope: "account", retryAfterSeconds: null, reason };
  expect(await channel.send(aTextRequest(), {})).toEqual(account);
});

test("the SDK repeats nothing, whatever the environment says", async () => {
  vi.stubEnv("AWS_MAX_ATTEMPTS", "5");
  cleanups.push(() => vi.unstubAllEnvs());
  const client = createSmsClient({ region: "eu-central-1" });
  cleanups.push(() => client.destroy());
  expect(await client.config.maxAttempts()).toBe(1);
});
