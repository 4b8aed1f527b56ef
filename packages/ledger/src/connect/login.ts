import { noPassword } from "./advice.ts";
import { clocks, secondsSince } from "./clocks.ts";
import { LedgerUnavailable } from "./errors.ts";

/** Seconds that a password may take to come by. */
const patience = 2;

/** Seconds after which it is asked for anew: a token of IAM is good for 15 minutes, and a connection takes its time. */
const freshFor = 9 * 60;

/**
 * The password as the driver can take it. One that is a function is asked before a statement is given to the driver:
 * what came after the driver has given a connection up would be written to a socket that is gone, and end the process.
 */
export class Login {
  readonly password: string | (() => string);
  readonly #source: (() => Promise<string>) | null;
  #kept: { password: string; at: ReturnType<typeof clocks> } | null = null;
  #asked: Promise<void> | null = null;

  constructor(password: string | (() => Promise<string>)) {
    this.#source = typeof password === "string" ? null : password;
    this.password = typeof password === "string" ? password : () => this.#kept?.password ?? "";
  }

  /** Resolves when there is a password that a new connection may use. Throws `LedgerUnavailable`. */
  async ready(): Promise<void> {
    if (this.#source === null) return;
    if (this.#kept !== null && secondsSince(this.#kept.at) < freshFor) return;
    this.#asked ??= this.#ask(this.#source).finally(() => {
      this.#asked = null;
    });
    await this.#asked;
  }

  /** To be told of each error: a password that the server has refused is asked for anew. */
  note(error: unknown): void {
    if (error instanceof Error && "code" in error && String(error.code).startsWith("28")) this.#kept = null;
  }

  async #ask(source: () => Promise<string>): Promise<void> {
    const at = clocks();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const error = new Error(`none came within ${patience} s`);
      timer = setTimeout(() => reject(error), patience * 1000);
    });
    try {
      this.#kept = { password: await Promise.race([source(), late]), at };
    } catch (error) {
      throw new LedgerUnavailable(error, true, noPassword);
    } finally {
      clearTimeout(timer);
    }
  }
}
