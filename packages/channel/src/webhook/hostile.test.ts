import type { Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Authority, createAuthority } from "../../../local/src/certificates.ts";
import type { Resolve } from "./resolve.ts";
import { type Inbox, merchant, startInbox } from "./testing/inbox.ts";
import { TcpDoubles } from "./testing/tcp.ts";

const doubles = new TcpDoubles();
afterEach(() => {
  doubles.stop();
  inbox.faults.clear();
  inbox.clear();
});

const authority: Authority = createAuthority("The authority of a test");
let inbox: Inbox;
beforeAll(async () => {
  inbox = await startInbox();
});
afterAll(() => inbox.stop());

const transient = (word: string) => ({
  outcome: "transient",
  reason: `${word}: the request was not written`,
  answered: true,
});
const unknown = (word: string) => ({
  outcome: "unknown",
  answered: true,
  reason: `${word}: no answer, the request was written`,
});
const privately = {
  outcome: "refused",
  reason: "PrivateAddress: the host is not on the public internet",
  answered: false,
};

test("a private address is not called, by no name and in no spelling", async () => {
  const port = new URL(inbox.endpoint).port;
  const channel = inbox.channel({ allow: [] });
  for (const host of [
    "localhost",
    "127.0.0.1",
    "127.1",
    "0x7f.1",
    "2130706433",
    "[::ffff:127.0.0.1]",
    "[::1]",
  ]) {
    const request = inbox.request({ address: `https://${host}:${port}/${merchant}` });
    expect(await channel.send(request, {}), host).toEqual(privately);
  }
  expect(inbox.received).toEqual([]);
});

test("a name that turns private after its check: the address that was checked is called, and asked for once", async () => {
  const port = Number(new URL(inbox.endpoint).port);
  const visitors: Socket[] = [];
  await doubles.listening((socket) => visitors.push(socket), { host: "127.0.0.2", port });
  const answers = [["127.0.0.1"], ["127.0.0.2"], ["127.0.0.1", "127.0.0.2"], ["127.0.0.1"]];
  const resolve: Resolve = async () => answers.shift() ?? ["127.0.0.2"];
  const channel = inbox.channel({ allow: ["127.0.0.1/32"], resolve });
  const request = inbox.request();
  expect(await channel.send(request, {})).toMatchObject({ outcome: "accepted" });
  expect(answers).toHaveLength(3);
  for (let time = 0; time < 2; time += 1) expect(await channel.send(request, {})).toEqual(privately);
  expect(await channel.send(request, {}), "the next call checks anew").toMatchObject({ outcome: "accepted" });
  expect([inbox.received.length, visitors.length]).toEqual([2, 0]);
});

test("an address that does not answer gives way to the next one that was checked", async () => {
  const channel = inbox.channel({ resolve: async () => ["127.0.0.3", "127.0.0.1"] });
  expect(await channel.send(inbox.request(), {})).toMatchObject({ outcome: "accepted" });
});

test("a redirect, into the cloud's metadata or anywhere, is not followed", async () => {
  const visitors: Socket[] = [];
  const port = await doubles.listening((socket) => visitors.push(socket));
  const channel = inbox.channel();
  for (const status of [301, 302, 303, 307, 308])
    for (const location of ["https://169.254.169.254/latest/meta-data/", `https://127.0.0.1:${port}/`]) {
      const mend = inbox.faults.add(() => ({ status, headers: { location } }));
      const reason = `Redirect: status ${status}, redirects are not followed`;
      expect(await channel.send(inbox.request(), {})).toEqual({ outcome: "refused", reason, answered: true });
      mend();
    }
  expect(visitors).toEqual([]);
});

test.for(["endless", "dripping"] as const)(
  "a body that is %s: its status decides, and it is not waited for",
  async (body) => {
    inbox.faults.add(() => ({ body }));
    const began = performance.now();
    expect(await inbox.channel().send(inbox.request(), {})).toMatchObject({ outcome: "accepted" });
    inbox.faults.clear();
    inbox.faults.add(() => ({ status: 500, body }));
    expect(await inbox.channel().send(inbox.request(), {})).toMatchObject({
      reason: "ServerError: status 500",
    });
    expect(performance.now() - began).toBeLessThan(2_500);
  },
);

test("a body that breaks off: its status decides", async () => {
  const port = await doubles.answering("HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\nok", authority);
  const channel = inbox.channel({ ca: authority.certificate });
  const address = `https://localhost:${port}/`;
  expect(await channel.send(inbox.request({ address }), {})).toMatchObject({ outcome: "accepted" });
});

test.for([
  {
    what: "endless headers",
    bytes: `HTTP/1.1 200 OK\r\nx: ${"x".repeat(20_000)}\r\n\r\n`,
    code: "HPE_HEADER_OVERFLOW",
  },
  { what: "SSH's", bytes: "SSH-2.0-OpenSSH_9.6\r\n", code: "HPE_INVALID_CONSTANT" },
  {
    what: "another protocol",
    bytes: "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
    code: "ECONNRESET",
  },
  {
    what: "two lengths",
    bytes: "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n",
    code: "HPE_INVALID_TRANSFER_ENCODING",
  },
] as const)("an answer like $what is none: nobody knows", async ({ bytes, code }) => {
  const port = await doubles.answering(bytes, authority);
  const channel = inbox.channel({ ca: authority.certificate });
  const result = await channel.send(inbox.request({ address: `https://localhost:${port}/` }), {});
  expect(result).toEqual(unknown(code));
});

/** Long enough for TLS on a machine that has much to do. */
const timeoutMs = 400;

test("silence, a head that never ends, and informational answers only: nobody knows, when the time is over", async () => {
  const channel = inbox.channel({ ca: authority.certificate, timeoutMs });
  const hints = "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n";
  const began = performance.now();
  const results = ["", "HTTP/1.1 200 OK\r\nx: ", hints].map(async (bytes) => {
    const address = `https://localhost:${await doubles.answering(bytes, authority)}/`;
    return channel.send(inbox.request({ address }), {});
  });
  expect(await Promise.all(results)).toEqual(Array.from({ length: 3 }, () => unknown("TimedOut")));
  expect(performance.now() - began).toBeLessThan(2_500);
});

test("whoever hangs, in DNS, before TLS or at last, takes no more than the channel's time: in the end it rests", async () => {
  const silent = await doubles.listening(() => {});
  inbox.faults.add(() => ({ hold: new Promise(() => {}) }));
  const stuck: Resolve = (name) =>
    name === "stuck.example" ? new Promise(() => {}) : Promise.resolve(["127.0.0.1"]);
  const channel = inbox.channel({ timeoutMs, resolve: stuck });
  const hanging = [
    ["https://stuck.example/", transient("TimedOut")],
    [`https://localhost:${silent}/`, transient("TimedOut")],
    [inbox.addressOf(merchant), unknown("TimedOut")],
  ] as const;
  const sends = hanging.map(async ([address, result]) => {
    const send = () => channel.send(inbox.request({ address }), {});
    expect(await Promise.all([send(), send(), send()]), address).toEqual([result, result, result]);
    expect(await send()).toMatchObject({ outcome: "throttled", retryAfterSeconds: 30 });
  });
  await Promise.all(sends);
});

test("a connection reset after the request was read: nobody knows, whether it was taken or not", async () => {
  inbox.faults.add(({ repeats }) => ({ drop: repeats === 0 ? "after" : "before" }));
  const channel = inbox.channel();
  expect(await channel.send(inbox.request(), {})).toEqual(unknown("ECONNRESET"));
  expect(await channel.send(inbox.request(), {})).toEqual(unknown("ECONNRESET"));
  expect(inbox.received).toHaveLength(1);
});

test("a name that does not resolve: certainly not sent, and the receiver's trouble", async () => {
  const failure = Object.assign(new Error("query"), { code: "ENOTFOUND" });
  const channel = inbox.channel({ resolve: () => Promise.reject(failure) });
  expect(await channel.send(inbox.request(), {})).toEqual(transient("ENOTFOUND"));
});

test("TLS: the certificate is the host's and of an authority that is trusted, or nothing is sent", async () => {
  const port = Number(new URL(inbox.endpoint).port);
  const resolve: Resolve = async () => ["127.0.0.1"];
  const wrongName = inbox.request({ address: `https://shop.example:${port}/${merchant}` });
  expect(await inbox.channel({ resolve }).send(wrongName, {})).toEqual(
    transient("ERR_TLS_CERT_ALTNAME_INVALID"),
  );
  const untrusted =
    /^(SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT_LOCALLY): the request was not/;
  for (const ca of [null, authority.certificate])
    expect(await inbox.channel({ ca }).send(inbox.request(), {})).toMatchObject({
      outcome: "transient",
      reason: expect.stringMatching(untrusted),
    });
  const plain = await doubles.listening((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\n"));
  const request = inbox.request({ address: `https://localhost:${plain}/` });
  expect(await inbox.channel().send(request, {})).toMatchObject({ outcome: "transient", answered: true });
  expect(inbox.received).toEqual([]);
});

test("TLS: the host's name is told, as ASCII, and an address is verified as one", async () => {
  const names: (string | false | null)[] = [];
  const { certificate: cert, key } = authority.issue("xn--mnchen-3ya.example", "127.0.0.1");
  const server = createTlsServer({ cert, key });
  const each = (socket: Socket) => {
    if ("servername" in socket) names.push(socket.servername as string | false);
    socket.once("data", () => socket.end("HTTP/1.1 204 No Content\r\n\r\n"));
  };
  const port = await doubles.listening(each, { server, event: "secureConnection" });
  const channel = inbox.channel({ ca: authority.certificate, resolve: async () => ["127.0.0.1"] });
  for (const host of ["münchen.example", "127.0.0.1"])
    expect(
      await channel.send(inbox.request({ address: `https://${host}:${port}/` }), {}),
      host,
    ).toMatchObject({
      outcome: "accepted",
    });
  expect(names).toEqual(["xn--mnchen-3ya.example", false]);
});

test("aborted while it waits for an answer: nobody knows; and it is not held against the endpoint", async () => {
  const channel = inbox.channel();
  for (let time = 0; time < 4; time += 1) {
    const abort = new AbortController();
    inbox.faults.clear();
    inbox.faults.add(() => {
      abort.abort();
      return { hold: new Promise(() => {}) };
    });
    expect(await channel.send(inbox.request(), { signal: abort.signal })).toEqual(unknown("Aborted"));
  }
  inbox.faults.clear();
  expect(await channel.send(inbox.request(), {})).toMatchObject({ outcome: "accepted" });
});
