import { afterEach, expect, test, vi } from "vitest";
import { LedgerUnavailable } from "./errors.ts";
import { Login } from "./login.ts";

afterEach(() => vi.useRealTimers());

const refused = Object.assign(new Error("password authentication failed"), { code: "28P01" });
const ask = ({ password }: Login) => (typeof password === "string" ? password : password());

test("a password is handed on as it is, and a refusal of it stays what it is", async () => {
  expect(await ask(new Login("p"))).toBe("p");
  const login = new Login(async () => "p");
  expect(await ask(login)).toBe("p");
  expect(login.explain(refused)).toBe(refused);
});

test("one that can't be had is none, and what the server then says is explained by that", async () => {
  let token: string | null = null;
  const login = new Login(async () => {
    if (token === null) throw new Error("no credentials");
    return token;
  });
  expect(await ask(login)).toBe("");
  const error = login.explain(refused);
  expect(error).toBeInstanceOf(LedgerUnavailable);
  expect(error).toMatchObject({
    certainlyNotRun: true,
    message:
      "there is no password for the ledger's database (no credentials); check this process's AWS credentials",
  });
  // Something else than the login has failed.
  const reset = Object.assign(new Error("reset"), { code: "ECONNRESET" });
  expect(login.explain(reset)).toBe(reset);

  token = "t";
  expect(await ask(login)).toBe("t");
  expect(login.explain(refused)).toBe(refused);
});

test("one that does not come in time is none: the driver would write it to a connection that is gone", async () => {
  vi.useFakeTimers();
  const login = new Login(() => new Promise(() => {}));
  const asked = ask(login);
  await vi.advanceTimersByTimeAsync(2000);
  expect(await asked).toBe("");
  expect(login.explain(refused)).toMatchObject({
    message: expect.stringContaining("(none came within 2 s)"),
  });
});
