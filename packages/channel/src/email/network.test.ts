import { once } from "node:events";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { SESClient } from "@aws-sdk/client-ses";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { afterEach, expect, test, vi } from "vitest";
import { emailChannel } from "./channel.ts";
import { createSesClient } from "./client.ts";
import { aClient, aRequest } from "./fixtures.ts";
import { accept, type SesDouble, startSesDouble } from "./ses-double.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function channelOf(client: SESClient, timeoutMs = 5_000) {
  cleanups.push(() => client.destroy());
  return emailChannel({ client, from: "notify@owed.example", configurationSet: null, timeoutMs });
}

async function aDouble(answer?: SesDouble["answer"]): Promise<SesDouble> {
  const ses = await startSesDouble();
  if (answer) ses.answer = answer;
  cleanups.push(ses.stop);
  return ses;
}

/** A TCP server that does `each` with every connection. */
async function listening(each: (socket: Socket) => void, server: Server = createServer()): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
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

/** A client whose agent is the test's own. */
function clientWith(endpoint: string, handler: ConstructorParameters<typeof NodeHttpHandler>[0]): SESClient {
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  const requestHandler = new NodeHttpHandler(handler);
  return new SESClient({ region: "eu-central-1", endpoint, credentials, maxAttempts: 1, requestHandler });
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

test("connection refused: certainly not sent", async () => {
  const port = await listening(() => {});
  for (const cleanup of cleanups.splice(0)) await cleanup();
  const channel = channelOf(aClient(`http://127.0.0.1:${port}`));
  expect(await channel.send(aRequest(), {})).toEqual(transient("ECONNREFUSED"));
});

test("a host name that does not resolve: certainly not sent", async () => {
  const failure = Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" });
  const httpAgent = new HttpAgent({ lookup: (_host, _options, done) => done(failure, "", 4) });
  const channel = channelOf(clientWith("http://email.example.invalid", { httpAgent }));
  expect(await channel.send(aRequest(), {})).toEqual(transient("ENOTFOUND"));
});

test("a connection that never stands: certainly not sent", async () => {
  const httpAgent = new HttpAgent({ lookup: () => {} });
  const channel = channelOf(clientWith("http://email.example.invalid", { httpAgent, connectionTimeout: 50 }));
  expect(await channel.send(aRequest(), {})).toEqual(transient("TimeoutError"));
});

test("TLS that cannot be agreed on: certainly not sent", async () => {
  const ses = await aDouble();
  const channel = channelOf(aClient(ses.endpoint.replace("http:", "https:")));
  expect(await channel.send(aRequest(), {})).toEqual(transient("EPROTO"));
});

test("a connection closed before TLS stands: certainly not sent", async () => {
  const port = await listening((socket) => socket.once("data", () => socket.destroy()));
  const channel = channelOf(aClient(`https://127.0.0.1:${port}`));
  expect(await channel.send(aRequest(), {})).toEqual(transient("ECONNRESET"));
});

test("a server that accepts the connection and never speaks TLS: certainly not sent", async () => {
  const port = await listening(() => {});
  const channel = channelOf(aClient(`https://127.0.0.1:${port}`, { requestTimeoutMs: 50 }));
  expect(await channel.send(aRequest(), {})).toEqual(transient("ETIMEDOUT"));
});

/** TLS with a pre-shared key needs no certificate. */
const psk = { ciphers: "PSK", minVersion: "TLSv1.2", maxVersion: "TLSv1.2" } as const;
const key = Buffer.from("owed");

test("over TLS, a socket that drops after the handshake: nobody knows", async () => {
  const server = createTlsServer({ ...psk, pskCallback: () => key });
  server.on("secureConnection", (socket) => socket.once("data", () => socket.destroy()));
  const port = await listening(() => {}, server);
  const options = {
    pskCallback: () => ({ psk: key, identity: "owed" }),
    checkServerIdentity: () => undefined,
  };
  const httpsAgent = new HttpsAgent({ ...psk, ...options });
  const channel = channelOf(clientWith(`https://127.0.0.1:${port}`, { httpsAgent }));
  expect(await channel.send(aRequest(), {})).toEqual(unknown("ECONNRESET"));
});

test("a socket that drops after the request: nobody knows, and it is asked once", async () => {
  const ses = await aDouble((response) => response.destroy());
  const channel = channelOf(aClient(ses.endpoint));
  expect(await channel.send(aRequest(), {})).toEqual(unknown("ECONNRESET"));
  expect(ses.received).toHaveLength(1);
});

test("a kept-alive socket that drops under its second request: nobody knows", async () => {
  const ports: (number | undefined)[] = [];
  const ses = await aDouble((response, request) => {
    ports.push(request.socket.remotePort);
    if (ports.length === 1) accept("m-1")(response);
    else response.destroy();
  });
  const channel = channelOf(aClient(ses.endpoint));
  expect(await channel.send(aRequest(), {})).toMatchObject({ outcome: "accepted" });
  expect(await channel.send(aRequest(), {})).toEqual(unknown("ECONNRESET"));
  expect(ports[1], "the socket was used again").toBe(ports[0]);
});

test("no answer in time: nobody knows", async () => {
  const ses = await aDouble(() => {});
  const channel = channelOf(aClient(ses.endpoint, { requestTimeoutMs: 50 }));
  expect(await channel.send(aRequest(), {})).toEqual(unknown("ETIMEDOUT"));
});

test("an answer that breaks off: nobody knows", async () => {
  const ses = await aDouble((response) => {
    response.writeHead(200, { "content-length": "500" });
    response.write("<SendEmailResponse>", () => response.destroy());
  });
  const result = await channelOf(aClient(ses.endpoint)).send(aRequest(), {});
  expect(result.outcome).toBe("unknown");
});

test("an answer that stalls is given up at the channel's own time: nobody knows", async () => {
  const ses = await aDouble((response) => {
    response.writeHead(200, { "content-length": "500" });
    response.write("<SendEmailResponse>");
  });
  expect(await channelOf(aClient(ses.endpoint), 100).send(aRequest(), {})).toEqual(unknown("TimedOut"));
});

test("aborted before it began: certainly not sent, and SES sees nothing", async () => {
  const ses = await aDouble();
  const result = await channelOf(aClient(ses.endpoint)).send(aRequest(), { signal: AbortSignal.abort() });
  expect(result).toEqual(transient("Aborted"));
  expect(ses.received).toHaveLength(0);
});

test("aborted while it waits for a free socket: certainly not sent; the one that has it: nobody knows", async () => {
  const ses = await aDouble(() => {});
  const channel = channelOf(aClient(ses.endpoint, { maxSockets: 1 }));
  const abort = new AbortController();
  const first = channel.send(aRequest(), { signal: abort.signal });
  await vi.waitFor(() => expect(ses.received).toHaveLength(1), { interval: 5 });
  const second = channel.send(aRequest(), { signal: AbortSignal.timeout(50) });
  expect(await second).toEqual(transient("Aborted"));
  abort.abort();
  expect(await first).toEqual(unknown("Aborted"));
  expect(ses.received).toHaveLength(1);
});

test("credentials that never come end with the channel's time, and nothing is sent when they come late", async () => {
  const ses = await aDouble();
  const late = Promise.withResolvers<{ accessKeyId: string; secretAccessKey: string }>();
  const channel = channelOf(aClient(ses.endpoint, { credentials: () => late.promise }), 50);
  expect(await channel.send(aRequest(), {})).toEqual(transient("TimedOut"));
  late.resolve({ accessKeyId: "test", secretAccessKey: "test" });
  const next = channelOf(aClient(ses.endpoint));
  expect(await next.send(aRequest(), {})).toMatchObject({ outcome: "accepted" });
  expect(ses.received, "only the second one's").toHaveLength(1);
});

test("credentials that fail concern every row: the account waits", async () => {
  const ses = await aDouble();
  const failure = Object.assign(new Error("no role"), { name: "CredentialsProviderError" });
  const channel = channelOf(aClient(ses.endpoint, { credentials: () => Promise.reject(failure) }));
  const reason = "CredentialsProviderError: no role";
  const account = { outcome: "throttled", scope: "account", retryAfterSeconds: null, reason };
  expect(await channel.send(aRequest(), {})).toEqual(account);
});

test("a provider of credentials that answers with an error is no answer of SES", async () => {
  const ses = await aDouble();
  const $response = { statusCode: 500, headers: {} };
  const failure = Object.assign(new Error("try later"), { name: "InternalServerException", $response });
  const channel = channelOf(aClient(ses.endpoint, { credentials: () => Promise.reject(failure) }));
  const reason = "InternalServerException: try later";
  expect(await channel.send(aRequest(), {})).toMatchObject({
    outcome: "throttled",
    scope: "account",
    reason,
  });
});

test("an idle socket is closed early; one that waits for its answer is not", async () => {
  const closed = Promise.withResolvers<void>();
  const ses = await aDouble((response, request) => {
    request.socket.once("close", () => closed.resolve());
    setTimeout(() => accept("m-1")(response), 100);
  });
  const channel = channelOf(aClient(ses.endpoint, { idleMs: 20 }));
  expect(await channel.send(aRequest(), {})).toMatchObject({ outcome: "accepted" });
  await closed.promise;
}, 2_000);

test("a hundred sends at once share ten sockets, without a warning", async () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  cleanups.push(() => warn.mockRestore());
  const ses = await aDouble();
  const sockets = new Set<number | undefined>();
  ses.answer = (response, request) => {
    sockets.add(request.socket.remotePort);
    accept("m-1")(response);
  };
  const channel = channelOf(aClient(ses.endpoint, { maxSockets: 10 }));
  const results = await Promise.all(Array.from({ length: 100 }, () => channel.send(aRequest(), {})));
  expect(results.every(({ outcome }) => outcome === "accepted")).toBe(true);
  expect(sockets.size).toBeLessThanOrEqual(10);
  expect(warn).not.toHaveBeenCalled();
});

test("the SDK repeats nothing, whatever the environment says", async () => {
  vi.stubEnv("AWS_MAX_ATTEMPTS", "5");
  cleanups.push(() => vi.unstubAllEnvs());
  const client = createSesClient({ region: "eu-central-1" });
  cleanups.push(() => client.destroy());
  expect(await client.config.maxAttempts()).toBe(1);
});
