import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import postgres from "postgres";
import { accessOf } from "./access.ts";
import { clocks, secondsSince } from "./clocks.ts";
import { asUnavailable, isConflict, isReadOnly, LedgerUnavailable, withoutRows } from "./errors.ts";
import { Login } from "./login.ts";
import { arrayTypes } from "./types.ts";

export type LedgerOptions = {
  host: string;
  port: number;
  database: string;
  user: string;
  /** The database role that each connection takes on in place of its user's own: the user must be a member of it. */
  role?: string;
  /** A function is asked again after some minutes, and after a refusal, so that a rotated password or a token is met. */
  password: string | (() => Promise<string>);
  /** `verify`: TLS with the server's certificate checked against the CAs that Node knows. */
  tls: "verify" | "off";
  applicationName: string;
  /** Connections at most. One Lambda container runs one invocation: one or two. */
  connections: number;
  /** Seconds that one statement may take, answer included. */
  deadline: number;
  /**
   * `generic`, the default: a statement is planned once a connection, for whatever values come; what runs all day
   * is written for that. `auto`: for its values, where PostgreSQL thinks that it pays; for questions with parts that
   * may be left out.
   */
  plans?: "generic" | "auto";
};

/** Seconds without a statement after which a connection is closed. */
const idleTimeout = 20;

type Sql = postgres.Sql<{ [name in keyof typeof arrayTypes]: readonly unknown[] }>;

/**
 * The ledger's database. Every statement of the product runs through `run`, alone and outside of any
 * transaction: `now()` is then the statement's own time, and nothing is held open during a provider call.
 */
export class Ledger {
  readonly #options: LedgerOptions;
  readonly #login: Login;
  #sql: Sql;
  /** Statements under way, and when the last one ended. */
  #running = 0;
  #usedAt = clocks();

  constructor(options: LedgerOptions) {
    this.#login = new Login(options.password);
    this.#options = options;
    this.#sql = open(options, this.#login);
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
    await this.#login.ready();
    await this.#wakeUp();
    const sql = this.#sql;
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        this.#replace(sql);
        reject(new LedgerUnavailable(new Error(`no answer within ${this.#options.deadline} s`), false));
      }, this.#options.deadline * 1000);
    });
    this.#running += 1;
    try {
      return withoutHoles(await Promise.race([statement(sql), deadline]));
    } catch (error) {
      // The server that was the primary: only a new connection can find the one that is.
      if (isReadOnly(error)) this.#replace(sql);
      this.#login.note(error);
      throw error;
    } finally {
      clearTimeout(timer);
      this.#running -= 1;
      this.#usedAt = clocks();
    }
  }

  /** Before the first statement in a while: the process may have been frozen, and its connections have ended. */
  async #wakeUp(): Promise<void> {
    if (this.#running > 0) return;
    const idle = secondsSince(this.#usedAt);
    // The driver's own timers have not run meanwhile, and a NAT forgets a connection without a word.
    if (idle > idleTimeout) this.#replace(this.#sql);
    else if (idle > 1) {
      // The server's end of a connection waits to be read, and takes two turns of the event loop to be acted on.
      await turn();
      await turn();
    }
  }

  /** A client that met a silent server may hang at every later use: drop it, and begin anew. */
  #replace(useless: Sql): void {
    if (this.#sql !== useless) return;
    this.#sql = open(this.#options, this.#login);
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

const open = (options: LedgerOptions, login: Login): Sql =>
  postgres({
    ...accessOf(options, login),
    max: options.connections,
    idle_timeout: idleTimeout,
    // Of a busy function's connection as well: what a backend has gathered goes with it.
    max_lifetime: 15 * 60,
    backoff: () => 0.1,
    types: arrayTypes,
    connection: {
      application_name: options.applicationName,
      ...(options.role === undefined ? {} : { role: options.role }),
      TimeZone: "UTC",
      // A role may change its own default for good; the statements name their schema.
      search_path: "pg_catalog, pg_temp",
      statement_timeout: Math.round(options.deadline * 1000),
      lock_timeout: Math.round(options.deadline * 500),
      // The statements are short, whatever the planner thinks they cost: compiling them takes longer than they do.
      jit: "off",
      // Planned for its values a batch of a thousand ids looks worth a scan of the whole table, in a ledger of a few
      // thousand rows; and planning takes longer than a batch of ten. What is read is in memory, or on an SSD.
      ...(options.plans === "auto" ? {} : { plan_cache_mode: "force_generic_plan", random_page_cost: 1.1 }),
    },
  });
