import postgres from "postgres";
import { accessOf } from "./connect/access.ts";
import { LedgerUnavailable, withoutRows } from "./connect/errors.ts";
import type { LedgerOptions } from "./connect/ledger.ts";
import { Login } from "./connect/login.ts";

/**
 * One connection for a migration's transaction. The driver's own transactions end the process when their connection is
 * lost: they write a ROLLBACK to a socket that is gone. Here nothing is given to it any more.
 */
export type Session = {
  /** Runs SQL text. Throws PostgreSQL's own error, or `LedgerUnavailable` when the connection is lost or silent for `deadline` seconds. */
  run(text: string, deadline?: number): Promise<Record<string, unknown>[]>;
  /** What was not committed is rolled back. */
  end(): Promise<void>;
};

/** It connects at its first statement. Throws `LedgerUnavailable` when there is no password. */
export async function openSession(options: LedgerOptions): Promise<Session> {
  const login = new Login(options.password);
  await login.ready();
  const { promise: lost, reject } = Promise.withResolvers<never>();
  lost.catch(() => {});
  let open = true;
  const lose = (why: string) => {
    open = false;
    reject(new LedgerUnavailable(new Error(why), false));
  };
  const sql = postgres({
    ...accessOf(options, login),
    max: 1,
    max_lifetime: 0,
    connection: { application_name: options.applicationName, TimeZone: "UTC" },
    onclose: () => lose("the connection was closed"),
  });
  const within = async <T>(seconds: number, work: PromiseLike<T>): Promise<T> => {
    const timer = setTimeout(() => lose(`no answer within ${seconds} s`), seconds * 1000);
    try {
      return await Promise.race([work, lost]);
    } catch (error) {
      throw withoutRows(error);
    } finally {
      clearTimeout(timer);
    }
  };
  let connected = false;
  const run = async (text: string, deadline = options.deadline): Promise<Record<string, unknown>[]> => {
    if (!open) return lost;
    const rows = await within(deadline, sql.unsafe(text));
    connected = true;
    return [...rows];
  };
  const end = async () => {
    // To roll back what never began, the driver would connect once more.
    if (open && connected) await run("ROLLBACK").catch(() => {});
    await sql.end({ timeout: 0 });
  };
  return { run, end };
}
