import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Login } from "./login.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const refused = Object.assign(new Error("password authentication failed"), { code: "28P01" });
/** What a new connection logs in with. */
const given = async (login: Login) => {
  await login.ready();
  return typeof login.password === "string" ? login.password : login.password();
};
const counted = () => {
  let times = 0;
  return async () => `token ${++times}`;
};

test("a password is handed on as it is", async () => {
  expect(await given(new Login("p"))).toBe("p");
});

test("a function's is kept for as long as a token is good for a connection yet, and asked for once at a time", async () => {
  const login = new Login(counted());
  expect(await Promise.all([given(login), given(login)])).toEqual(["token 1", "token 1"]);
  await vi.advanceTimersByTimeAsync(8 * 60_000);
  expect(await given(login)).toBe("token 1");
  await vi.advanceTimersByTimeAsync(2 * 60_000);
  expect(await given(login)).toBe("token 2");
});

test("one that the server refused is asked for anew, and after another error it is kept", async () => {
  const login = new Login(counted());
  expect(await given(login)).toBe("token 1");
  login.note(Object.assign(new Error("reset"), { code: "ECONNRESET" }));
  expect(await given(login)).toBe("token 1");
  login.note(refused);
  expect(await given(login)).toBe("token 2");
});

test("without one there is no connection, and the reason is told; the next may have one", async () => {
  let token: string | null = null;
  const login = new Login(async () => {
    if (token === null) throw new Error("no credentials");
    return token;
  });
  await expect(login.ready()).rejects.toMatchObject({
    name: "LedgerUnavailable",
    certainlyNotRun: true,
    loginRefused: false,
    message:
      "there is no password for the ledger's database (no credentials); check this process's AWS credentials",
  });
  token = "t";
  expect(await given(login)).toBe("t");
});

test("one that does not come in time is none", async () => {
  const login = new Login(() => new Promise(() => {}));
  const told = expect(login.ready()).rejects.toMatchObject({
    message: expect.stringContaining("(none came within 2 s)"),
  });
  await vi.advanceTimersByTimeAsync(2000);
  await told;
});
