import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { LedgerUnavailable } from "./errors.ts";
import { Ledger, type LedgerOptions } from "./ledger.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

const open: Ledger[] = [];
function connect(options: Partial<LedgerOptions>): Ledger {
  const ledger = new Ledger({ ...database.options, connections: 1, ...options });
  open.push(ledger);
  return ledger;
}
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(open.splice(0).map((ledger) => ledger.close()));
});

const one = (ledger: Ledger) => ledger.run((sql) => sql`SELECT 1 AS one`, { repeatable: false });

test("a password that is a function is asked for once for several connections", async () => {
  const password = vi.fn(async () => String(database.options.password));
  const ledger = connect({ password, connections: 2 });
  const process = () =>
    ledger.run((sql) => sql`SELECT pg_backend_pid() AS pid, pg_sleep(0.05)`, { repeatable: false });
  const [[first] = [], [second] = []] = await Promise.all([process(), process()]);
  expect(first?.pid).not.toBe(second?.pid);
  expect(password).toHaveBeenCalledOnce();
});

test("a password that can't be had ends the statement alone, and the next one asks again", async () => {
  let credentials = false;
  const ledger = connect({
    async password() {
      if (credentials) return String(database.options.password);
      throw new Error("no credentials");
    },
  });
  await expect(one(ledger)).rejects.toMatchObject({
    name: "LedgerUnavailable",
    message: expect.stringContaining("there is no password for the ledger's database (no credentials)"),
  });
  credentials = true;
  expect(await one(ledger)).toEqual([{ one: 1 }]);
});

test("a password that was refused is asked for anew at once", async () => {
  const passwords = ["rotated away", String(database.options.password)];
  const ledger = connect({ password: async () => passwords.shift() ?? "" });
  expect(await one(ledger)).toEqual([{ one: 1 }]);
  expect(passwords).toEqual([]);
});

test("a password may take its time before a server that does: it is there before a connection begins", async () => {
  const started = Promise.withResolvers<Socket>();
  const server = createServer((socket) => socket.once("data", () => started.resolve(socket)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const connected = vi.fn();
  server.on("connection", connected);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { port } = server.address() as AddressInfo;
  const password = () => new Promise<string>((resolve) => setTimeout(resolve, 1800, "token"));
  const asked = one(connect({ port, password })).catch((error: Error) => error);
  await vi.advanceTimersByTimeAsync(1700);
  expect(connected).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(200);
  const socket = await started.promise;
  await vi.advanceTimersByTimeAsync(2600);
  const answer = once(socket, "data");
  socket.write(Buffer.of(0x52, 0, 0, 0, 8, 0, 0, 0, 3)); // AuthenticationCleartextPassword
  expect(String((await answer)[0])).toContain("token");
  socket.resetAndDestroy();
  expect(await asked).toBeInstanceOf(LedgerUnavailable);
  await new Promise((closed) => server.close(closed));
});
