import { noPassword } from "./advice.ts";
import { LedgerUnavailable } from "./errors.ts";

/**
 * Seconds that a password may take to come by. The driver gives a whole connection four; what came later would be
 * written to a socket that is gone, and end the process.
 */
const patience = 2;

/**
 * The password as the driver can take it. One that is a function is asked at each new connection; its rejection would
 * end the process too. So it answers with none instead, and `explain` says afterwards why the server refused that.
 */
export class Login {
  readonly password: string | (() => Promise<string>);
  #failure: unknown = null;

  constructor(password: string | (() => Promise<string>)) {
    this.password = typeof password === "string" ? password : () => this.#ask(password);
  }

  async #ask(password: () => Promise<string>): Promise<string> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const error = new Error(`none came within ${patience} s`);
      timer = setTimeout(() => reject(error), patience * 1000);
    });
    try {
      const given = await Promise.race([password(), late]);
      this.#failure = null;
      return given;
    } catch (error) {
      this.#failure = error;
      return "";
    } finally {
      clearTimeout(timer);
    }
  }

  /** The error of a connection, or why there was no password for it. */
  explain(error: unknown): unknown {
    const refused = error instanceof Error && "code" in error && String(error.code).startsWith("28");
    return refused && this.#failure !== null ? new LedgerUnavailable(this.#failure, true, noPassword) : error;
  }
}
