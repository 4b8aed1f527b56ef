import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { afterEach, expect, test } from "vitest";
import { freePort, listen, PortTaken } from "./port.ts";

const servers: { close(): unknown }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});
function track<S extends { close(): unknown }>(server: S): S {
  servers.push(server);
  return server;
}

test("an HTTP server listens on loopback only, and the port is told", async () => {
  const server = track(createHttpServer((_, response) => response.end("here")));
  const port = await listen(server, 0, "OWED_PORT");
  expect(server.address()).toMatchObject({ address: "127.0.0.1", port });
  expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe("here");
});

test("a taken port: the error has the port, the setting and a way out", async () => {
  const port = await listen(track(createServer()), 0, "OWED_PORT");
  const error = await listen(createHttpServer(), port, "OWED_PORT").catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(PortTaken);
  expect(error).toMatchObject({ port, setting: "OWED_PORT" });
  expect(String(error)).toMatch(new RegExp(`^PortTaken: Port ${port} .*choose a free port with OWED_PORT`));
  await expect(freePort(port, "OWED_PORT")).rejects.toThrow(PortTaken);
});

test("another failure stays what it is", async () => {
  await expect(listen(createServer(), 70_000, "OWED_PORT")).rejects.toThrow(RangeError);
});

test("a free port can be listened on at once", async () => {
  const port = await freePort(0, "OWED_PORT");
  expect(await freePort(port, "OWED_PORT")).toBe(port);
  expect(await listen(track(createServer()), port, "OWED_PORT")).toBe(port);
});
