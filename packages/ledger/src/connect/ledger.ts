import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { accessOf } from "./access.ts";
import { asUnavailable, isConflict, isReadOnly, LedgerUnavailable, withoutRows } from "./errors.ts";
import { arrayTypes } from "./types.ts";

export type LedgerOptions = {
  host: string;
  port: number;
  database: string;
  user: string;
  /** A function is asked at each new connection, so that a rotated password or a short-lived token is met. */
  password: string | (() => Promise<string>);
  /** `verify`: TLS with the server's certificate checked against the CAs that Node knows. */
  tls: "verify" | "off";
  applicationName: string;
  /** Connections at most. One Lambda container runs one invocation: one or two. */
  connections: number;
  /** Seconds that one statement may take, answer included. */
  deadline: number;
};

type Sql = postgres.Sql<{ [name in keyof typeof arrayTypes]: readonly unknown[] }>;

/**
 * The ledger's database. Every statement of the product runs through `run`, alone and outside of any
 * transaction: `now()` is then the statement's own time, and nothing is held open during a provider call.
 */
export class Ledger {
  readonly #options: LedgerOptions;
  #sql: Sql;

  constructor(options: LedgerOptions) {
    this.#options = options;
    this.#sql = open(options);
  }

  /**
   * Runs one statement. A conflict, or a database that certainly did not run it, is tried again while the
   * deadline has not passed; with `repeatable`, so is a statement whose answer was lost on the way. Throws
   * `LedgerUnavailable` when the database is away, or silent for longer than the deadline.
   */
  async run<T>(statement: (sql: Sql) => PromiseLike<T>, { repeatable }: { repeatable: boolean }): Promise<T> {
    const started = performance.now();
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#once(statement);
      } catch (error) {
        const unavailable = asUnavailable(withoutRows(error));
        // A statement given to the driver before it has seen a broken connection close is never answered.
        if (unavailable) await sleep(10);
        const safe = unavailable ? unavailable.certainlyNotRun || repeatable : isConflict(error);
        const inTime = performance.now() - started < this.#options.deadline * 1000;
        // Three tries: when a connection is cut, the driver fails the next statement with the server's farewell too.
        if (!safe || !inTime || tries === 3) throw unavailable ?? error;
      }
    }
  }

  async #once<T>(statement: (sql: Sql) => PromiseLike<T>): Promise<T> {
    const sql = this.#sql;
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        this.#replace(sql);
        reject(new LedgerUnavailable(new Error(`no answer within ${this.#options.deadline} s`), false));
      }, this.#options.deadline * 1000);
    });
    try {
      return withoutHoles(await Promise.race([statement(sql), deadline]));
    } catch (error) {
      // The server that was the primary: only a new connection can find the one that is.
      if (isReadOnly(error)) this.#replace(sql);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** A client that met a silent server may hang at every later use: drop it, and begin anew. */
  #replace(useless: Sql): void {
    if (this.#sql !== useless) return;
    this.#sql = open(this.#options);
    useless.end({ timeout: 0 }).catch(() => {});
  }

  async close(): Promise<void> {
    await this.#sql.end({ timeout: 2 });
  }
}

/**
 * After a statement that failed while its rows came in, the driver's next answer on that connection begins with
 * as many empty places (porsager/postgres 1119, 1181).
 */
function withoutHoles<T>(answer: T): T {
  if (Array.isArray(answer)) while (answer.length > 0 && !(0 in answer)) answer.shift();
  return answer;
}

const open = (options: LedgerOptions): Sql =>
  postgres({
    ...accessOf(options),
    max: options.connections,
    idle_timeout: 20,
    // A frozen function thaws to a connection that the server may have closed: don't keep one for ever.
    max_lifetime: 15 * 60,
    backoff: () => 0.1,
    types: arrayTypes,
    connection: {
      application_name: options.applicationName,
      TimeZone: "UTC",
      statement_timeout: Math.round(options.deadline * 1000),
      lock_timeout: Math.round(options.deadline * 500),
      // The statements are short, whatever the planner thinks they cost: compiling them takes longer than they do.
      jit: "off",
    },
  });
